/* What the adapter uses of xquic. */
#include <xquic/xquic.h>

extern xqc_usec_t (*xqc_monotonic_timestamp)(void);
