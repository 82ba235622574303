/* What the adapter uses of xquic. */
#ifndef STUB_XQUIC_H
#define STUB_XQUIC_H
#include <stddef.h>
#include <stdint.h>

typedef uint64_t xqc_usec_t;
typedef struct xqc_send_ctl_s xqc_send_ctl_t;
typedef struct xqc_sample_s xqc_sample_t;
typedef struct xqc_packet_out_s xqc_packet_out_t;
typedef struct xqc_connection_s xqc_connection_t;

typedef struct {
    uint32_t customize_on, init_cwnd;
} xqc_cc_params_t;

typedef struct {
    size_t (*xqc_cong_ctl_size)(void);
    void (*xqc_cong_ctl_init)(void *, xqc_send_ctl_t *, xqc_cc_params_t);
    void (*xqc_cong_ctl_on_lost)(void *, xqc_usec_t);
    void (*xqc_cong_ctl_on_ack)(void *, xqc_packet_out_t *, xqc_usec_t);
    uint64_t (*xqc_cong_ctl_get_cwnd)(void *);
    void (*xqc_cong_ctl_reset_cwnd)(void *);
    int (*xqc_cong_ctl_in_slow_start)(void *);
    int (*xqc_cong_ctl_in_recovery)(void *);
    void (*xqc_cong_ctl_restart_from_idle)(void *, uint64_t);
    void (*xqc_cong_ctl_on_ack_multiple_pkts)(void *, xqc_sample_t *);
    uint32_t (*xqc_cong_ctl_get_pacing_rate)(void *);
    uint32_t (*xqc_cong_ctl_get_bandwidth_estimate)(void *);
} xqc_cong_ctrl_callback_t;

#endif
