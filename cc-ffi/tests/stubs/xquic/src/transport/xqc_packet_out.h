/* What the adapter uses of xquic. */
#ifndef STUB_XQC_PACKET_OUT_H
#define STUB_XQC_PACKET_OUT_H
#include <xquic/xquic.h>

#define XQC_FRAME_BIT_STREAM (1 << 8)
#define XQC_FRAME_BIT_DATAGRAM (1 << 22)

struct xqc_packet_out_s {
    unsigned int po_used_size;
    xqc_usec_t po_sent_time;
    uint64_t po_frame_types;
};

#endif
