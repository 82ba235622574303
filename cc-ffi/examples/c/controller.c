/* A sender that keeps its own books: packets, RTT, bytes in flight. It drives each algorithm of the library for ten seconds of
 * virtual time over a bottleneck of 1.25 MB/s with 40 ms of RTT and a queue of 50 kB, and says what came of it.
 *
 *     cargo rustc -p cc-ffi --release --crate-type staticlib
 *     cc -Icc-ffi/include cc-ffi/examples/c/controller.c target/release/libcc_ffi.a -o target/controller -lm -lpthread -ldl
 *     target/controller
 */
#include "cc_ffi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSS UINT64_C(1200)
#define MS UINT64_C(1000000)
#define LINK_RATE UINT64_C(1250000) /* bytes per second */
#define LINK_RTT (40 * MS)
#define LINK_QUEUE UINT64_C(50000)
#define ACK_EVERY (5 * MS) /* the receiver acknowledges at multiples of this */
#define DURATION (10000 * MS)
#define PACKETS 32768
#define FRAME 64 /* entries that one call takes here */

/* A status that is not "ok" is a bug of the caller: stop. */
#define CHECK(call) check((call), #call, __LINE__)
static void check(ccffi_status status, const char *call, int line)
{
    if (status != CCFFI_STATUS_OK) {
        fprintf(stderr, "line %d: %s: %s\n", line, call, ccffi_status_text(status));
        exit(1);
    }
}

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum fate { IN_FLIGHT, ACKED, LOST };

struct packet {
    uint64_t sent_at;
    uint64_t ack_at; /* when its ACK arrives; 0 if the link drops it */
    int marked;      /* whether the link sets CE on it */
    enum fate fate;
    ccffi_packet_snapshot snapshot;
};

/* One connection. The controller and the sampler lie in it: nothing is allocated. */
struct sender {
    ccffi_controller cc;
    ccffi_rate rate;
    ccffi_outputs outputs;
    uint64_t now;
    uint64_t next_number;
    uint64_t oldest;
    uint64_t bytes_in_flight;
    uint64_t max_bytes_in_flight;
    uint64_t next_send;
    uint64_t link_free;
    uint64_t latest_rtt, smoothed_rtt, rtt_var, min_rtt;
    int has_rtt;
    uint64_t acks, losses, marks;
    uint32_t limited_by;
    struct packet packets[PACKETS];
};

/* The state that every event carries. */
static ccffi_path_state path_state(const struct sender *s, uint64_t prior_bytes_in_flight)
{
    ccffi_path_state path = {0};
    path.now = s->now;
    path.bytes_in_flight = s->bytes_in_flight;
    path.prior_bytes_in_flight = prior_bytes_in_flight;
    path.next_number = s->next_number;
    path.max_datagram_size = MSS;
    if (s->oldest < s->next_number) {
        path.oldest_outstanding = s->oldest;
        path.has |= CCFFI_PATH_HAS_OLDEST_OUTSTANDING;
    }
    if (s->has_rtt) {
        path.latest_rtt = s->latest_rtt;
        path.smoothed_rtt = s->smoothed_rtt;
        path.rtt_var = s->rtt_var;
        path.min_rtt = s->min_rtt;
        path.has |= CCFFI_PATH_HAS_RTT;
    }
    CHECK(ccffi_rate_totals(&s->rate, &path.delivered, &path.lost, &path.app_limited));
    return path;
}

static void send_packet(struct sender *s)
{
    struct packet *packet = &s->packets[s->next_number];
    uint64_t prior = s->bytes_in_flight, queue;
    ccffi_path_state path;
    ccffi_sent_packet sent = {0};

    s->bytes_in_flight += MSS;
    if (s->bytes_in_flight > s->max_bytes_in_flight)
        s->max_bytes_in_flight = s->bytes_in_flight;
    packet->sent_at = s->now;
    packet->fate = IN_FLIGHT;
    CHECK(ccffi_rate_on_sent(&s->rate, s->now, prior, s->bytes_in_flight, &packet->snapshot));

    sent.number = s->next_number++;
    sent.bytes = MSS;
    sent.sent_at = s->now;
    sent.in_flight = 1;
    sent.carries_data = 1;
    path = path_state(s, prior);
    CHECK(ccffi_on_packet_sent(&s->cc, &path, &sent));

    /* The link: a queue that drops what does not fit, and marks behind a backlog of 20 kB. */
    queue = s->link_free > s->now ? (s->link_free - s->now) * LINK_RATE / 1000000000 : 0;
    if (queue + MSS > LINK_QUEUE) {
        packet->ack_at = 0;
        return;
    }
    packet->marked = queue > 20000;
    s->link_free = (s->link_free > s->now ? s->link_free : s->now) + MSS * 1000000000 / LINK_RATE;
    packet->ack_at = (s->link_free + LINK_RTT + ACK_EVERY - 1) / ACK_EVERY * ACK_EVERY;
}

static void update_rtt(struct sender *s, uint64_t latest)
{
    uint64_t deviation;
    s->latest_rtt = latest;
    if (!s->has_rtt) {
        s->has_rtt = 1;
        s->min_rtt = s->smoothed_rtt = latest;
        s->rtt_var = latest / 2;
        return;
    }
    if (latest < s->min_rtt)
        s->min_rtt = latest;
    deviation = latest > s->smoothed_rtt ? latest - s->smoothed_rtt : s->smoothed_rtt - latest;
    s->rtt_var = (3 * s->rtt_var + deviation) / 4;
    s->smoothed_rtt = (7 * s->smoothed_rtt + latest) / 8;
}

/* All packets whose ACK arrives now: one ACK frame. */
static void receive_ack(struct sender *s)
{
    static ccffi_acked_packet acked[FRAME];
    static ccffi_lost_packet lost[FRAME];
    size_t n_acked = 0, n_lost = 0;
    uint64_t prior = s->bytes_in_flight, lost_before, marks = 0, largest = 0, number;
    int first = !s->has_rtt;
    uint8_t given;
    ccffi_path_state path;
    ccffi_rtt rtt = {0};
    ccffi_ecn_event ecn = {0};
    ccffi_loss loss = {0};
    ccffi_ack ack = {0};

    for (number = s->oldest; number < s->next_number && n_acked < FRAME; number++) {
        struct packet *packet = &s->packets[number];
        if (packet->fate != IN_FLIGHT || packet->ack_at == 0 || packet->ack_at > s->now)
            continue;
        packet->fate = ACKED;
        marks += packet->marked != 0;
        largest = number;
        memset(&acked[n_acked], 0, sizeof acked[n_acked]);
        acked[n_acked].number = number;
        acked[n_acked].sent_at = packet->sent_at;
        acked[n_acked].bytes = MSS;
        acked[n_acked].packets = 1;
        acked[n_acked].snapshot = packet->snapshot;
        acked[n_acked].has =
            CCFFI_ACKED_HAS_NUMBER | CCFFI_ACKED_HAS_PACKETS | CCFFI_ACKED_HAS_SNAPSHOT;
        n_acked++;
    }
    if (n_acked == 0)
        return;
    update_rtt(s, s->now - s->packets[largest].sent_at);

    /* RFC 9002 section 6.1.1: lost if three later packets were sent before the largest acked. */
    for (number = s->oldest; number + 3 <= largest && n_lost < FRAME; number++) {
        struct packet *packet = &s->packets[number];
        if (packet->fate != IN_FLIGHT)
            continue;
        packet->fate = LOST;
        memset(&lost[n_lost], 0, sizeof lost[n_lost]);
        lost[n_lost].number = number;
        lost[n_lost].sent_at = packet->sent_at;
        lost[n_lost].bytes = MSS;
        lost[n_lost].snapshot = packet->snapshot;
        lost[n_lost].has = CCFFI_LOST_HAS_NUMBER | CCFFI_LOST_HAS_SNAPSHOT;
        n_lost++;
    }
    while (s->oldest < s->next_number && s->packets[s->oldest].fate != IN_FLIGHT)
        s->oldest++;
    s->bytes_in_flight -= (n_acked + n_lost) * MSS;

    /* The sampler first: losses, then acks, then the sample of the frame. */
    path = path_state(s, prior);
    lost_before = path.lost;
    if (n_lost > 0)
        CHECK(ccffi_rate_on_lost(&s->rate, n_lost * MSS));
    for (size_t i = 0; i < n_acked; i++)
        CHECK(ccffi_rate_on_acked(&s->rate, s->now, &acked[i]));
    CHECK(ccffi_rate_finish_frame(&s->rate, s->now, &ack.rate_sample, &given));
    if (given)
        ack.has |= CCFFI_ACK_HAS_RATE_SAMPLE;

    /* Then the controller: ECN, RTT, losses, acks. The state is that after the frame, but for what was lost before. */
    path = path_state(s, prior);
    path.lost = lost_before;

    ecn.ce = marks;
    ecn.ect1 = n_acked - marks;
    ecn.newly_acked = n_acked;
    ecn.largest_acked = largest;
    ecn.largest_acked_sent_at = s->packets[largest].sent_at;
    ecn.has = CCFFI_ECN_HAS_CE | CCFFI_ECN_HAS_ECT1 | CCFFI_ECN_HAS_NEWLY_ACKED |
              CCFFI_ECN_HAS_LARGEST_ACKED;
    CHECK(ccffi_on_ecn(&s->cc, &path, &ecn));

    rtt.latest = s->latest_rtt;
    rtt.is_sample = 1;
    rtt.is_first = (uint8_t)first;
    CHECK(ccffi_on_rtt(&s->cc, &path, &rtt));

    if (n_lost > 0) {
        loss.cause = CCFFI_LOSS_CAUSE_ACK;
        CHECK(ccffi_on_loss(&s->cc, &path, &loss, lost, n_lost));
        path.lost += n_lost * MSS;
    }

    path.lost = lost_before;
    ack.limited_by = s->limited_by;
    ack.max_bytes_in_flight = s->max_bytes_in_flight;
    ack.newest_data_sent_at = s->packets[largest].sent_at;
    ack.has |= CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT;
    CHECK(ccffi_on_ack(&s->cc, &path, &ack, acked, n_acked));
    s->max_bytes_in_flight = s->bytes_in_flight;

    s->acks += n_acked;
    s->losses += n_lost;
    s->marks += marks;
}

/* Sends what window and pacing rate allow. Outputs are read again for every packet. */
static void send_burst(struct sender *s)
{
    for (;;) {
        CHECK(ccffi_get_outputs(&s->cc, &s->outputs));
        s->limited_by = CCFFI_SEND_LIMIT_CWND;
        if (s->bytes_in_flight + MSS > s->outputs.cwnd && !s->outputs.may_send_beyond_cwnd)
            return;
        s->limited_by = CCFFI_SEND_LIMIT_PACER;
        if (s->next_send > s->now)
            return;
        if (s->next_number == PACKETS)
            return;
        send_packet(s);
        /* A rate of CCFFI_UNPACED makes this 0. */
        CHECK(ccffi_get_outputs(&s->cc, &s->outputs));
        s->next_send = s->now + MSS * 1000000000 / s->outputs.pacing_rate;
    }
}

static uint64_t next_ack(const struct sender *s)
{
    uint64_t earliest = UINT64_MAX;
    for (uint64_t number = s->oldest; number < s->next_number; number++) {
        const struct packet *packet = &s->packets[number];
        if (packet->fate == IN_FLIGHT && packet->ack_at != 0 && packet->ack_at < earliest)
            earliest = packet->ack_at;
    }
    return earliest;
}

static void start(struct sender *s, uint32_t algorithm)
{
    ccffi_setup setup = {0};
    memset(s, 0, sizeof *s);
    setup.max_datagram_size = MSS;
    setup.ecn = CCFFI_ECN_ECT1;
    setup.seed = 1;
    CHECK(ccffi_controller_init(&s->cc, sizeof s->cc, CCFFI_ABI_VERSION, algorithm, &setup));
    CHECK(ccffi_get_outputs(&s->cc, &s->outputs));
    CHECK(ccffi_rate_init(&s->rate, sizeof s->rate, CCFFI_ABI_VERSION, s->outputs.sampling_rule,
                          s->outputs.min_ack_interval));
}

static void transfer(struct sender *s, uint32_t algorithm)
{
    ccffi_snapshot log;
    uint64_t utilisation;

    start(s, algorithm);
    while (s->now < DURATION && s->next_number < PACKETS) {
        uint64_t wake;
        send_burst(s);
        wake = next_ack(s);
        if (s->limited_by == CCFFI_SEND_LIMIT_PACER && s->next_send < wake)
            wake = s->next_send;
        /* Nothing in flight will be acked: all of it was dropped. The probe timeout of a real stack would find out. */
        EXPECT(wake != UINT64_MAX);
        s->now = wake;
        receive_ack(s);
    }
    utilisation = 100 * s->acks * MSS / (LINK_RATE * (DURATION / 1000000000));
    CHECK(ccffi_get_snapshot(&s->cc, &log));
    printf("%-8s %" PRIu64 " %% of the link, %" PRIu64 " packets lost, %" PRIu64 " marked, smoothed RTT %" PRIu64
           " ms; at the end cwnd %" PRIu64 " bytes, %s, %" PRIu64 " congestion events\n",
           ccffi_algorithm_name(algorithm), utilisation, s->losses, s->marks, s->smoothed_rtt / MS, log.cwnd,
           log.phase, log.congestion_events);
    EXPECT(utilisation > 60);
    EXPECT(log.cwnd >= 2 * MSS && log.cwnd == ccffi_get_cwnd(&s->cc));
}

/* The events that a plain transfer does not have. */
static void other_events(struct sender *s, uint32_t algorithm)
{
    ccffi_path_state path;
    ccffi_spurious_loss spurious = {0};
    ccffi_controller copy;
    ccffi_outputs after;
    uint64_t initial;

    start(s, algorithm);
    initial = ccffi_get_cwnd(&s->cc);
    path = path_state(s, 0);
    CHECK(ccffi_on_resume_hint(&s->cc, &path, 500000, 40 * MS));
    CHECK(ccffi_on_ack_policy(&s->cc, &path, 10, 25 * MS));
    CHECK(ccffi_on_ecn_state(&s->cc, &path, CCFFI_ECN_NOT_ECT));
    CHECK(ccffi_on_idle_restart(&s->cc, &path, 1000 * MS));
    CHECK(ccffi_rate_on_app_limited(&s->rate, 0));
    CHECK(ccffi_on_app_limited(&s->cc, &path));
    spurious.number = 1;
    spurious.bytes = MSS;
    spurious.has = CCFFI_SPURIOUS_LOSS_HAS_NUMBER;
    CHECK(ccffi_on_spurious_loss(&s->cc, &path, &spurious));
    CHECK(ccffi_on_spurious_losses(&s->cc, &path));
    CHECK(ccffi_on_discarded(&s->cc, &path, MSS, CCFFI_DISCARD_REASON_KEYS_DISCARDED));
    CHECK(ccffi_rate_on_discarded(&s->rate, MSS));
    path.max_datagram_size = 1400;
    CHECK(ccffi_on_mtu_update(&s->cc, &path, CCFFI_MTU_CHANGE_DISCOVERED));

    /* A migrated path begins with a copy; the old path's controller goes on as it was. */
    CHECK(ccffi_controller_clone(&s->cc, &copy, sizeof copy));
    CHECK(ccffi_on_path_change(&copy, &path, CCFFI_PATH_CHANGE_NEW));
    CHECK(ccffi_rate_reset_reference(&s->rate));
    CHECK(ccffi_get_outputs(&copy, &after));
    EXPECT(after.cwnd >= 2 * 1400);
    EXPECT(after.pacing_rate > 0);
    EXPECT(initial >= 2 * MSS);
}

/* Mistakes get an answer. */
static void mistakes(void)
{
    ccffi_controller cc = {{0}};
    ccffi_setup setup = {0};
    ccffi_path_state path = {0};

    EXPECT(ccffi_abi_version() == CCFFI_ABI_VERSION);
    EXPECT(ccffi_controller_init(NULL, sizeof cc, CCFFI_ABI_VERSION, 1, &setup) ==
           CCFFI_STATUS_INVALID_DATAGRAM_SIZE);
    setup.max_datagram_size = MSS;
    EXPECT(ccffi_controller_init(NULL, sizeof cc, CCFFI_ABI_VERSION, 1, &setup) ==
           CCFFI_STATUS_NULL_POINTER);
    EXPECT(ccffi_controller_init(&cc, 16, CCFFI_ABI_VERSION, 1, &setup) == CCFFI_STATUS_TOO_SMALL);
    EXPECT(ccffi_controller_init(&cc, sizeof cc, CCFFI_ABI_VERSION + 1, 1, &setup) ==
           CCFFI_STATUS_ABI_VERSION);
    EXPECT(ccffi_controller_init(&cc, sizeof cc, CCFFI_ABI_VERSION, 999, &setup) ==
           CCFFI_STATUS_UNKNOWN_ALGORITHM);
    path.max_datagram_size = MSS;
    EXPECT(ccffi_on_app_limited(&cc, &path) == CCFFI_STATUS_NOT_AN_OBJECT);
    EXPECT(ccffi_get_cwnd(&cc) == 0);
}

int main(void)
{
    static struct sender sender;
    size_t index;

    EXPECT(ccffi_controller_size() <= sizeof sender.cc);
    EXPECT(ccffi_rate_size() <= sizeof sender.rate);
    for (index = 0; index < ccffi_algorithm_count(); index++) {
        uint32_t algorithm = ccffi_algorithm_number(index), found = 0;
        CHECK(ccffi_algorithm_by_name(ccffi_algorithm_name(algorithm), &found));
        EXPECT(found == algorithm);
        transfer(&sender, algorithm);
        other_events(&sender, algorithm);
    }
    mistakes();
    return 0;
}
