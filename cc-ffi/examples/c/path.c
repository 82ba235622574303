/* A sender that keeps nothing: the path keeps the books, in static memory. Built like controller.c. */
#include "cc_ffi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define CAPACITY 64

#define CHECK(call) check((call), #call, __LINE__)
static void check(ccffi_status status, const char *call, int line)
{
    if (status != CCFFI_STATUS_OK) {
        fprintf(stderr, "line %d: %s: %s\n", line, call, ccffi_status_text(status));
        exit(1);
    }
}

/* Room for 64 packets in flight, aligned as a path wants it. */
static uint64_t memory[CCFFI_PATH_SIZE(CAPACITY) / sizeof(uint64_t)];

int main(void)
{
    ccffi_path *path = (ccffi_path *)memory;
    ccffi_setup setup = {0};
    ccffi_path_config config = {0};
    uint64_t now = 0, sent = 0, acked = 0, lost = 0, deadline = 0, first = 0;
    uint8_t waiting = 0, found = 0;
    ccffi_outputs outputs;
    ccffi_path_state state;
    ccffi_outstanding packet;

    setup.max_datagram_size = 1200;
    config.has = CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION; /* with the thresholds of RFC 9002 */
    CHECK(ccffi_path_init(path, sizeof memory, CCFFI_ABI_VERSION, CAPACITY, CCFFI_ALGORITHM_CUBIC, &setup,
                          &config));

    for (int round = 0; round < 50; round++) {
        uint64_t numbers[CAPACITY];
        size_t n = 0;
        ccffi_send_decision decision;
        ccffi_frame_end end = {0};
        ccffi_frame_report report;

        /* Send while window, pacer and ring allow it; keep the number beside your own packet number. */
        for (;;) {
            ccffi_outgoing_packet out = {0};
            CHECK(ccffi_path_poll_send(path, now, 1200, &decision));
            if (decision.send == CCFFI_SEND_AT && n < 10) {
                now = decision.at; /* a real stack sets a timer */
                continue;
            }
            if (decision.send != CCFFI_SEND_NOW || n == CAPACITY)
                break;
            out.bytes = 1200;
            out.sent_at = now;
            out.in_flight = out.ack_eliciting = out.carries_data = 1;
            CHECK(ccffi_path_on_packet_sent(path, now, &out, &numbers[n++]));
        }
        sent += n;

        /* 30 ms later an ACK frame comes. Every 47th packet got lost; the path finds out. */
        now += 30 * MS;
        for (size_t i = 0; i < n; i++)
            if (numbers[i] % 47 != 46)
                CHECK(ccffi_path_acked(path, numbers[i]));
        end.ack_delay = 2 * MS;
        end.has = CCFFI_FRAME_END_HAS_ACK_DELAY;
        CHECK(ccffi_path_finish(path, now, &end, &report));
        acked += report.newly_acked / 1200;
        lost += report.newly_lost / 1200;

        /* What is late but not yet lost has a deadline. */
        CHECK(ccffi_path_loss_deadline(path, &deadline, &waiting));
        if (waiting) {
            now = deadline > now ? deadline : now;
            CHECK(ccffi_path_on_loss_timeout(path, now, &report));
            lost += report.newly_lost / 1200;
        }
    }

    CHECK(ccffi_path_get_outputs(path, &outputs));
    CHECK(ccffi_path_get_state(path, now, &state));
    for (found = 1; found; first = packet.number + 1)
        CHECK(ccffi_path_next_outstanding(path, first, &packet, &found));
    printf("%" PRIu64 " packets sent, %" PRIu64 " acked, %" PRIu64 " lost, %" PRIu64 " bytes in flight; cwnd %" PRIu64
           " bytes, pacing %" PRIu64 " bytes/s, smoothed RTT %" PRIu64 " ms\n",
           sent, acked, lost, state.bytes_in_flight, outputs.cwnd, outputs.pacing_rate, state.smoothed_rtt / MS);
    if (acked + lost + state.bytes_in_flight / 1200 != sent || lost == 0 || state.delivered != acked * 1200)
        return 1;
    return 0;
}
