/* What the adapter uses of xquic. */
#include "src/congestion_control/xqc_sample.h"

struct xqc_send_ctl_s {
    xqc_connection_t *ctl_conn;
    xqc_usec_t ctl_srtt, ctl_rttvar, ctl_minrtt, ctl_latest_rtt, ctl_first_rtt_sample_time;
    uint32_t ctl_update_latest_rtt_count;
    uint8_t ctl_is_cwnd_limited;
    unsigned ctl_bytes_in_flight, ctl_prior_bytes_in_flight;
    uint64_t ctl_delivered, ctl_app_limited;
    uint32_t ctl_lost_pkts_number;
    xqc_sample_t sampler;
};
