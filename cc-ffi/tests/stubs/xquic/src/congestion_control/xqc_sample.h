/* What the adapter uses of xquic. */
#ifndef STUB_XQC_SAMPLE_H
#define STUB_XQC_SAMPLE_H
#include <xquic/xquic.h>

struct xqc_sample_s {
    xqc_usec_t now, prior_time, ack_elapse, send_elapse, po_sent_time;
    uint64_t prior_delivered, tx_in_flight;
    uint32_t is_app_limited, loss, prior_lost, lost_pkts;
};

#endif
