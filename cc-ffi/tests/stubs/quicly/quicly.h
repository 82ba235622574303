/* The adapter needs nothing of it but quicly_init_cc_t, which the stub of cc.h has. */
