/* What quicly_cc_t keeps for the adapter in quicly.c: see docs/quicly.md. */
#ifndef CCFFI_QUICLY_H
#define CCFFI_QUICLY_H

#include "cc_ffi.h"

/* Points of the delivery state that are remembered: at most 32 a round trip. */
#define CCFFI_QUICLY_POINTS 64

struct st_ccffi_quicly_t {
    ccffi_controller controller;
    ccffi_rate rate;
    uint32_t datagram;
    int acked;
    uint64_t last_lost_pn;
    int64_t last_point_at;
    uint64_t num_points;
    struct st_ccffi_quicly_point_t {
        uint64_t next_pn;
        ccffi_packet_snapshot snapshot;
    } points[CCFFI_QUICLY_POINTS];
};

#endif
