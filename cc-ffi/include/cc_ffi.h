// C ABI over the congestion controllers of this project. Generated from the crate cc-ffi: do not edit.
//
// Times and spans are in nanoseconds, sizes in bytes, rates in bytes per second. Structs start from zero: optional
// fields are looked at if their bit in `has` is set, a flag is a byte that is 0 or not. A `uint32_t` that names one
// of several values is documented with the enum that lists them.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// # Safety
//
// The common contract of all functions that take a `ccffi_controller`, a `ccffi_rate` or a `ccffi_path`:
//
// - The object is NULL, or memory in which the `..._init` of its kind (or `ccffi_controller_clone`) has made one, or memory of which
//   at least the first eight bytes are initialised and are not by chance those of such an object (zeros are not).
// - Nobody else uses the object during the call. Between calls it may go from one thread to another.
// - Every other pointer is NULL, or points to what its type says: initialised if it is read, writable if it is written, outside
//   the object, and not written to by anybody else during the call. No pointer is kept.
//
// A call that keeps the contract is never undefined behaviour, whatever the numbers in it. Besides what they name themselves,
// these functions fail with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED` or `CCFFI_STATUS_NOT_AN_OBJECT`.

#ifndef CC_FFI_H
#define CC_FFI_H

#include <stddef.h>
#include <stdint.h>

// Numbers of the algorithms.
#define CCFFI_ALGORITHM_C4 1
#define CCFFI_ALGORITHM_CUBIC 2
#define CCFFI_ALGORITHM_RENO 3
#define CCFFI_ALGORITHM_BBR 4
#define CCFFI_ALGORITHM_QUICDC 5
#define CCFFI_ALGORITHM_WESTWOOD 6

// Bytes that are enough for a path of this capacity: 64, 512 or 4096 packets in flight.
#define CCFFI_PATH_SIZE(capacity) \
    (CCFFI_PATH_OVERHEAD + CCFFI_PATH_BYTES_PER_PACKET * (size_t)(capacity))

// Version of the structs, constants and signatures of the header.
#define CCFFI_ABI_VERSION 1

// Room for a controller, in units of eight bytes, with some left for algorithms to come. `ccffi_controller_size` is what is used.
#define CCFFI_CONTROLLER_WORDS 128

// Packets handed to a controller at once: a frame of more is cut, so that it costs a fixed amount of stack.
#define CCFFI_PART 8

// Room for a sampler, in units of eight bytes. `ccffi_rate_size` is what is used.
#define CCFFI_RATE_WORDS 48

// Bytes that a path takes beside 32 for each packet in flight that it has room for, at most.
#define CCFFI_PATH_OVERHEAD 4096

// Bytes that a path takes for each packet in flight that it has room for.
#define CCFFI_PATH_BYTES_PER_PACKET 32

// `oldest_outstanding` is set.
#define CCFFI_PATH_HAS_OLDEST_OUTSTANDING 1

// `latest_rtt`, `smoothed_rtt`, `min_rtt` and `rtt_var` are set: there was an RTT sample.
#define CCFFI_PATH_HAS_RTT 2

// `number` is set.
#define CCFFI_RATE_SAMPLE_HAS_NUMBER 1

// `rate_sample` is set.
#define CCFFI_ACK_HAS_RATE_SAMPLE 1

// `app_limited_at` is set.
#define CCFFI_ACK_HAS_APP_LIMITED_AT 2

// `newest_data_sent_at` is set.
#define CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT 4

// `ce` is set. Without it there was a mark, of unknown number.
#define CCFFI_ECN_HAS_CE 1

// `ect0` is set.
#define CCFFI_ECN_HAS_ECT0 2

// `ect1` is set.
#define CCFFI_ECN_HAS_ECT1 4

// `newly_acked` is set.
#define CCFFI_ECN_HAS_NEWLY_ACKED 8

// `largest_acked` is set.
#define CCFFI_ECN_HAS_LARGEST_ACKED 16

// `ack_delay` is set.
#define CCFFI_RTT_HAS_ACK_DELAY 1

// `pacing_rate` is a rate; without it the stack is not to pace, and the field is `CCFFI_UNPACED`.
#define CCFFI_OUTPUTS_HAS_PACING_RATE 1

// `wanted_ack_packets` and `wanted_max_ack_delay` are set.
#define CCFFI_OUTPUTS_HAS_WANTED_ACK_POLICY 2

// `pacing_rate` is a rate.
#define CCFFI_SNAPSHOT_HAS_PACING_RATE 1

// `ssthresh` is set.
#define CCFFI_SNAPSHOT_HAS_SSTHRESH 2

// `bandwidth` is set.
#define CCFFI_SNAPSHOT_HAS_BANDWIDTH 4

// `model_rtt` is set.
#define CCFFI_SNAPSHOT_HAS_MODEL_RTT 8

// The pacing rate of a controller that does not pace: as good as infinite, so that whoever forgets to ask sends unpaced, not
// never.
#define CCFFI_UNPACED UINT64_MAX

// Bytes of the name of a phase, its terminating zero included; a longer name is cut.
#define CCFFI_PHASE_SIZE 24

// `delivered_at` is set: there was a reference point.
#define CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT 1

// `number` is set.
#define CCFFI_ACKED_HAS_NUMBER 1

// `packets` is set.
#define CCFFI_ACKED_HAS_PACKETS 2

// `received_at` is set.
#define CCFFI_ACKED_HAS_RECEIVED_AT 4

// `snapshot` is set.
#define CCFFI_ACKED_HAS_SNAPSHOT 8

// `number` is set.
#define CCFFI_LOST_HAS_NUMBER 1

// `snapshot` is set.
#define CCFFI_LOST_HAS_SNAPSHOT 2

// `starts_run` is set.
#define CCFFI_LOST_HAS_STARTS_RUN 4

// `number` is set.
#define CCFFI_SPURIOUS_LOSS_HAS_NUMBER 1

// `max_ack_delay` is set.
#define CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY 1

// The path declares losses itself (RFC 9002 section 6.1).
#define CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION 2

// `packet_threshold`, `time_numerator` and `time_denominator` are set.
#define CCFFI_PATH_CONFIG_HAS_THRESHOLDS 4

// `ack_delay` is set.
#define CCFFI_FRAME_END_HAS_ACK_DELAY 1

// `largest_untracked` is set.
#define CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED 2

// `lost_first` and `lost_last` are set: something was lost.
#define CCFFI_FRAME_REPORT_HAS_LOST_SPAN 1

// `rtt_sample` is set.
#define CCFFI_FRAME_REPORT_HAS_RTT_SAMPLE 2

// `rate_sample` is set: something was acked.
#define CCFFI_FRAME_REPORT_HAS_RATE_SAMPLE 4

// `initial_window` is set.
#define CCFFI_SETUP_HAS_INITIAL_WINDOW 1

// `initial_rtt` is set.
#define CCFFI_SETUP_HAS_INITIAL_RTT 2

// `resume_cwnd` and `resume_rtt` are set.
#define CCFFI_SETUP_HAS_RESUME 4

// What every function that can fail answers with. Except for `CCFFI_STATUS_OK`, nothing was changed.
enum ccffi_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    CCFFI_STATUS_OK = 0,
    // A pointer is null that must not be.
    CCFFI_STATUS_NULL_POINTER = 1,
    // A pointer is not aligned for what it points to.
    CCFFI_STATUS_MISALIGNED = 2,
    // The memory is smaller than the object.
    CCFFI_STATUS_TOO_SMALL = 3,
    // The caller was compiled against a header of another ABI version.
    CCFFI_STATUS_ABI_VERSION = 4,
    // No algorithm has this number or name.
    CCFFI_STATUS_UNKNOWN_ALGORITHM = 5,
    // The memory does not hold an object of this kind: never initialised, or of another kind.
    CCFFI_STATUS_NOT_AN_OBJECT = 6,
    // A field or argument that names one of several values names none of them.
    CCFFI_STATUS_INVALID_ENUM = 7,
    // A `has` field has a bit that means nothing.
    CCFFI_STATUS_INVALID_HAS = 8,
    // `max_datagram_size` is 0: a field was forgotten.
    CCFFI_STATUS_INVALID_DATAGRAM_SIZE = 9,
    // An array has more elements than memory can hold.
    CCFFI_STATUS_INVALID_LENGTH = 10,
    // No path has this capacity.
    CCFFI_STATUS_UNKNOWN_CAPACITY = 11,
    // The path has no room for one more packet in flight.
    CCFFI_STATUS_RING_FULL = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_status ccffi_status;
#else
typedef int32_t ccffi_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why bytes left the network without being acked or lost.
enum ccffi_discard_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Keys of a packet number space were dropped (RFC 9002 section 6.4).
    CCFFI_DISCARD_REASON_KEYS_DISCARDED = 1,
    // A lost path MTU probe (RFC 9000 section 14.4: no congestion signal).
    CCFFI_DISCARD_REASON_MTU_PROBE_LOST = 2,
    // 0-RTT data was rejected.
    CCFFI_DISCARD_REASON_ZERO_RTT_REJECTED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_discard_reason ccffi_discard_reason;
#else
typedef uint32_t ccffi_discard_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An ECN codepoint; the values are those of the IP header (RFC 3168 section 5).
enum ccffi_ecn
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Not ECN-capable.
    CCFFI_ECN_NOT_ECT = 0,
    // ECT(1): L4S.
    CCFFI_ECN_ECT1 = 1,
    // ECT(0): classic ECN.
    CCFFI_ECN_ECT0 = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_ecn ccffi_ecn;
#else
typedef uint32_t ccffi_ecn;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What made the stack declare a loss.
enum ccffi_loss_cause
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The stack does not say.
    CCFFI_LOSS_CAUSE_UNKNOWN = 0,
    // An ACK frame.
    CCFFI_LOSS_CAUSE_ACK = 1,
    // The loss timer.
    CCFFI_LOSS_CAUSE_TIMER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_loss_cause ccffi_loss_cause;
#else
typedef uint32_t ccffi_loss_cause;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why the maximum datagram size changed.
enum ccffi_mtu_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Learnt in the handshake, before data was sent: the initial window is computed anew (RFC 9002 section 7.2).
    CCFFI_MTU_CHANGE_HANDSHAKE = 1,
    // Found by probing (RFC 8899).
    CCFFI_MTU_CHANGE_DISCOVERED = 2,
    // Reduced by black-hole detection (RFC 8899 section 4.3).
    CCFFI_MTU_CHANGE_BLACK_HOLE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_mtu_change ccffi_mtu_change;
#else
typedef uint32_t ccffi_mtu_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How the path changed (RFC 9000 section 9.4).
enum ccffi_path_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Only the peer's port changed (NAT rebinding): state may be kept.
    CCFFI_PATH_CHANGE_REBINDING = 1,
    // A new path: congestion state starts again.
    CCFFI_PATH_CHANGE_NEW = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_path_change ccffi_path_change;
#else
typedef uint32_t ccffi_path_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which reference point a packet remembers when it is sent.
enum ccffi_sampling_rule
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The last ACK (draft-ietf-ccwg-bbr).
    CCFFI_SAMPLING_RULE_LAST_ACK = 0,
    // The last accepted sample (C4).
    CCFFI_SAMPLING_RULE_LAST_ACCEPTED_SAMPLE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_sampling_rule ccffi_sampling_rule;
#else
typedef uint32_t ccffi_sampling_rule;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Whether a packet may be sent.
enum ccffi_send
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Now.
    CCFFI_SEND_NOW = 1,
    // Not before the time `at`: the pacer asks to wait.
    CCFFI_SEND_AT = 2,
    // Not before an event: see `limit`.
    CCFFI_SEND_BLOCKED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_send ccffi_send;
#else
typedef uint32_t ccffi_send;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What stopped the last attempt to send (RFC 9002 section 7.8: only the window says "limited by the window").
enum ccffi_send_limit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The stack does not say.
    CCFFI_SEND_LIMIT_UNKNOWN = 0,
    // The congestion window was full.
    CCFFI_SEND_LIMIT_CWND = 1,
    // The pacer asked to wait.
    CCFFI_SEND_LIMIT_PACER = 2,
    // The anti-amplification limit (RFC 9000 section 8.1).
    CCFFI_SEND_LIMIT_AMPLIFICATION = 3,
    // The peer's flow control.
    CCFFI_SEND_LIMIT_FLOW_CONTROL = 4,
    // The application had nothing to send.
    CCFFI_SEND_LIMIT_NO_DATA = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_send_limit ccffi_send_limit;
#else
typedef uint32_t ccffi_send_limit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Packet number space of a packet (RFC 9000 section 12.3).
enum ccffi_space
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // 0-RTT and 1-RTT packets.
    CCFFI_SPACE_APPLICATION = 0,
    // Initial packets.
    CCFFI_SPACE_INITIAL = 1,
    // Handshake packets.
    CCFFI_SPACE_HANDSHAKE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ccffi_space ccffi_space;
#else
typedef uint32_t ccffi_space;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A network path. Only its size and alignment are anybody's business.
typedef struct ccffi_path ccffi_path;

// Construction parameters. All zero but `max_datagram_size`: time zero, the algorithm's own initial window and RTT, a stack that
// honours the pacing rate, ECN not usable.
typedef struct ccffi_setup {
    // Time of construction, nanoseconds since any epoch.
    uint64_t now;
    // Maximum datagram size in bytes, UDP payload: 1 to 65 527; larger counts as 65 527.
    uint64_t max_datagram_size;
    // Initial window in bytes. Optional: else the algorithm's own.
    uint64_t initial_window;
    // RTT to assume before the first sample, nanoseconds. Optional: else the algorithm's own.
    uint64_t initial_rtt;
    // Seed of all randomness. A fresh one for each connection.
    uint64_t seed;
    // Congestion window saved from an earlier connection on the path, bytes (RFC 9959). Optional.
    uint64_t resume_cwnd;
    // Minimum RTT saved with it, nanoseconds. Optional, with `resume_cwnd`.
    uint64_t resume_rtt;
    // The codepoint that outgoing packets can carry (`ccffi_ecn`); ECT(1) stands for any.
    uint32_t ecn;
    // Which optional fields are set: `CCFFI_SETUP_HAS_...`.
    uint32_t has;
    // Whether the stack does not honour the pacing rate.
    uint8_t unpaced;
} ccffi_setup;

// A congestion controller. What is in it is nobody's business: only its size and alignment are.
typedef struct ccffi_controller {
    // Not to be looked at.
    uint64_t opaque[CCFFI_CONTROLLER_WORDS];
} ccffi_controller;

// The state of the path that every event carries. For an ACK frame: the state after the whole frame, but for
// `prior_bytes_in_flight` and `lost`.
typedef struct ccffi_path_state {
    // Time of the event, nanoseconds.
    uint64_t now;
    // Bytes in flight after the whole frame or event.
    uint64_t bytes_in_flight;
    // Bytes in flight before the frame or event.
    uint64_t prior_bytes_in_flight;
    // Total bytes delivered so far, this frame's acks included.
    uint64_t delivered;
    // Total bytes declared lost before this event.
    uint64_t lost;
    // Number that the next packet sent will get.
    uint64_t next_number;
    // Lowest number neither acked nor declared lost after this frame. Optional: if there is none, or the stack does not know it.
    uint64_t oldest_outstanding;
    // Newest RTT sample, ack delay included, nanoseconds. Optional, the four RTTs together.
    uint64_t latest_rtt;
    // Smoothed RTT, nanoseconds (RFC 9002 section 5.3). Optional.
    uint64_t smoothed_rtt;
    // Minimum RTT, nanoseconds (RFC 9002 section 5.2). Optional.
    uint64_t min_rtt;
    // RTT variation, nanoseconds (RFC 9002 section 5.3). Optional.
    uint64_t rtt_var;
    // Current maximum datagram size in bytes: 1 to 65 527; larger counts as 65 527.
    uint64_t max_datagram_size;
    // Which optional fields are set: `CCFFI_PATH_HAS_...`.
    uint32_t has;
    // Whether the connection is application-limited now.
    uint8_t app_limited;
    // Whether the handshake has not finished yet at this endpoint.
    uint8_t in_handshake;
} ccffi_path_state;

// A packet that was handed to the network.
typedef struct ccffi_sent_packet {
    // Its number; larger than that of any packet sent before on the path, in whatever packet number space.
    uint64_t number;
    // Its size in bytes, UDP payload.
    uint64_t bytes;
    // Its departure time, nanoseconds (may be later than now where the stack paces by departure time).
    uint64_t sent_at;
    // Its packet number space (`ccffi_space`).
    uint32_t space;
    // Whether it counts in flight: ack-eliciting or padded (RFC 9002 section 2).
    uint8_t in_flight;
    // Whether it carries stream or datagram data.
    uint8_t carries_data;
} ccffi_sent_packet;

// Delivery state that is stored with a packet when it is sent and comes back with its ack or loss (draft-ietf-ccwg-bbr).
// `ccffi_rate_on_sent` makes it.
typedef struct ccffi_packet_snapshot {
    // Bytes delivered at the reference point, 0 if there was none.
    uint64_t delivered;
    // Time of the reference point, nanoseconds. Optional.
    uint64_t delivered_at;
    // Send time of the packet that made the reference point, nanoseconds.
    uint64_t first_sent_at;
    // Bytes declared lost when the packet was sent.
    uint64_t lost;
    // Bytes in flight just after it was sent, itself included.
    uint64_t bytes_in_flight;
    // Which optional fields are set: `CCFFI_PACKET_SNAPSHOT_HAS_...`.
    uint32_t has;
    // Whether the connection was application-limited when it was sent.
    uint8_t app_limited;
} ccffi_packet_snapshot;

// The raw delivery-rate sample of one ACK frame (draft-ietf-ccwg-bbr, "Delivery Rate Samples"). `ccffi_rate_finish_frame` makes
// it.
typedef struct ccffi_rate_sample {
    // Number of the newest newly acked packet. Optional.
    uint64_t number;
    // Its send time, nanoseconds.
    uint64_t sent_at;
    // Delivery state stored with it.
    struct ccffi_packet_snapshot snapshot;
    // Bytes delivered in total now.
    uint64_t delivered;
    // Its send time minus `snapshot.first_sent_at`, nanoseconds (0 without a reference point).
    uint64_t send_interval;
    // Now minus `snapshot.delivered_at`, nanoseconds (0 without a reference point).
    uint64_t ack_interval;
    // Bytes declared lost since it was sent, this frame's losses included.
    uint64_t lost_since_sent;
    // Bytes newly acked by this frame that had not been declared lost.
    uint64_t newly_acked;
    // Bytes newly declared lost by this frame.
    uint64_t newly_lost;
    // Bytes acked by this frame after having been declared lost.
    uint64_t late_acked;
    // Which optional fields are set: `CCFFI_RATE_SAMPLE_HAS_...`.
    uint32_t has;
    // Whether the sample is application-limited.
    uint8_t app_limited;
    // Whether this frame moved the reference point of the sampling rule in force: always with `CCFFI_SAMPLING_RULE_LAST_ACK`.
    uint8_t moved_reference;
} ccffi_rate_sample;

// What concerns an ACK frame as a whole.
typedef struct ccffi_ack {
    // The raw rate sample of the whole frame. Optional.
    struct ccffi_rate_sample rate_sample;
    // Largest bytes in flight since the last ACK, the prior value included.
    uint64_t max_bytes_in_flight;
    // Last time that window and pacer allowed sending and no data was left, nanoseconds. Optional: if never.
    uint64_t app_limited_at;
    // Send time of the newest packet acked so far that carried stream or datagram data, nanoseconds. Optional: if none was.
    uint64_t newest_data_sent_at;
    // What stopped the last attempt to send (`ccffi_send_limit`).
    uint32_t limited_by;
    // Which optional fields are set: `CCFFI_ACK_HAS_...`.
    uint32_t has;
    // Whether the frame goes on in a further call.
    uint8_t more;
} ccffi_ack;

// One entry of the packets newly acknowledged by a frame. It may stand for several packets where the stack knows sums only: then
// number, send time and snapshot are those of the newest.
typedef struct ccffi_acked_packet {
    // Its number. Optional.
    uint64_t number;
    // Its send time, nanoseconds.
    uint64_t sent_at;
    // Bytes acknowledged.
    uint64_t bytes;
    // When the peer received it, on the peer's clock, nanoseconds (draft-ietf-quic-receive-ts). Optional.
    uint64_t received_at;
    // Delivery state at its send. Optional.
    struct ccffi_packet_snapshot snapshot;
    // How many packets the entry stands for. Optional: else one or more.
    uint32_t packets;
    // Its packet number space (`ccffi_space`).
    uint32_t space;
    // Which optional fields are set: `CCFFI_ACKED_HAS_...`.
    uint32_t has;
    // Whether it had been declared lost before (a spurious loss).
    uint8_t was_lost;
} ccffi_acked_packet;

// What concerns packets declared lost at one time as a whole.
typedef struct ccffi_loss {
    // What made the stack declare the loss (`ccffi_loss_cause`).
    uint32_t cause;
    // Whether persistent congestion is established (RFC 9002 section 7.6).
    uint8_t persistent_congestion;
    // Whether the losses go on in a further call.
    uint8_t more;
} ccffi_loss;

// A packet declared lost by packet or time threshold (RFC 9002 section 6.1). A probe timeout is no event.
typedef struct ccffi_lost_packet {
    // Its number. Optional.
    uint64_t number;
    // Its send time, nanoseconds.
    uint64_t sent_at;
    // Its size in bytes.
    uint64_t bytes;
    // Delivery state at its send. Optional.
    struct ccffi_packet_snapshot snapshot;
    // Its packet number space (`ccffi_space`).
    uint32_t space;
    // Which optional fields are set: `CCFFI_LOST_HAS_...`.
    uint32_t has;
    // Whether the packet sent just before it was not lost. Optional.
    uint8_t starts_run;
} ccffi_lost_packet;

// Validated ECN counts of an ACK frame that raised the largest acknowledged (RFC 9000 section 13.4.2), also when no CE mark came.
typedef struct ccffi_ecn_event {
    // Increase of the CE count. Optional: else there was one mark.
    uint64_t ce;
    // Increase of the ECT(0) count. Optional.
    uint64_t ect0;
    // Increase of the ECT(1) count. Optional.
    uint64_t ect1;
    // Packets newly acked since the increases began. Optional.
    uint64_t newly_acked;
    // Number of the largest acked packet. Optional.
    uint64_t largest_acked;
    // Its send time, nanoseconds.
    uint64_t largest_acked_sent_at;
    // Packet number space of the counts (`ccffi_space`).
    uint32_t space;
    // Which optional fields are set: `CCFFI_ECN_HAS_...`.
    uint32_t has;
} ccffi_ecn_event;

// The RTT of the highest-numbered packet newly acked by a frame.
typedef struct ccffi_rtt {
    // Raw: now minus its send time, ack delay included, nanoseconds; 0 if the clock went backwards.
    uint64_t latest;
    // The peer's ack delay, clamped to its maximum, nanoseconds (RFC 9002 section 5.3). Optional.
    uint64_t ack_delay;
    // Packet number space of the packet (`ccffi_space`).
    uint32_t space;
    // Which optional fields are set: `CCFFI_RTT_HAS_...`.
    uint32_t has;
    // Whether RFC 9002 section 5.1 accepts it as a sample (largest acked newly acked, ack-eliciting).
    uint8_t is_sample;
    // Whether it is the first RTT seen on the path.
    uint8_t is_first;
} ccffi_rtt;

// A packet declared lost that turned out to have arrived.
typedef struct ccffi_spurious_loss {
    // Its number. Optional.
    uint64_t number;
    // Its send time, nanoseconds.
    uint64_t sent_at;
    // Its size in bytes.
    uint64_t bytes;
    // Which optional fields are set: `CCFFI_SPURIOUS_LOSS_HAS_...`.
    uint32_t has;
} ccffi_spurious_loss;

// What a controller asks for now. It may change on any event, a send included.
typedef struct ccffi_outputs {
    // Congestion window in bytes: at least two datagrams.
    uint64_t cwnd;
    // Rate to pace at, bytes per second: never 0. `CCFFI_UNPACED` for "do not pace".
    uint64_t pacing_rate;
    // Largest burst to hand to the network at once, bytes; less than one datagram counts as one.
    uint64_t send_quantum;
    // Ack-eliciting packets per ACK that the peer is wanted to wait for (draft-ietf-quic-ack-frequency). Optional.
    uint64_t wanted_ack_packets;
    // Maximum ack delay that the peer is wanted to have, nanoseconds. Optional, with `wanted_ack_packets`.
    uint64_t wanted_max_ack_delay;
    // With `CCFFI_SAMPLING_RULE_LAST_ACCEPTED_SAMPLE`: the ack interval of an accepted sample is longer than this, nanoseconds.
    uint64_t min_ack_interval;
    // The rule that a delivery-rate sampler is to follow (`ccffi_sampling_rule`). Constant.
    uint32_t sampling_rule;
    // The codepoint wanted on outgoing packets (`ccffi_ecn`).
    uint32_t wanted_ecn;
    // Which optional fields are set: `CCFFI_OUTPUTS_HAS_...`.
    uint32_t has;
    // Whether one packet may be sent now although the window is full (RFC 9002 section 7.3.2). Only for stacks that report every
    // send.
    uint8_t may_send_beyond_cwnd;
    // Whether the algorithm holds back sending now, so that rate samples count as application-limited.
    uint8_t marks_app_limited;
    // Whether the algorithm reads rate samples and the snapshots of packets; if not, a stack need not keep them for it. Constant.
    uint8_t uses_rate_samples;
} ccffi_outputs;

// State for logs.
typedef struct ccffi_snapshot {
    // Congestion window in bytes.
    uint64_t cwnd;
    // Pacing rate, bytes per second; `CCFFI_UNPACED` if unpaced.
    uint64_t pacing_rate;
    // Slow-start threshold in bytes. Optional.
    uint64_t ssthresh;
    // The algorithm's estimate of what the path delivers, bytes per second. Optional.
    uint64_t bandwidth;
    // The RTT that the window is computed from, nanoseconds. Optional.
    uint64_t model_rtt;
    // Congestion events so far.
    uint64_t congestion_events;
    // Which optional fields are set: `CCFFI_SNAPSHOT_HAS_...`.
    uint32_t has;
    // Whether the algorithm is still in its first search for the capacity of the path.
    uint8_t startup;
    // Name of the current phase, terminated by a zero.
    char phase[CCFFI_PHASE_SIZE];
} ccffi_snapshot;

// A delivery-rate sampler. Only its size and alignment are anybody's business.
typedef struct ccffi_rate {
    // Not to be looked at.
    uint64_t opaque[CCFFI_RATE_WORDS];
} ccffi_rate;

// How a path keeps its books. All zero: losses declared by the stack, a `max_ack_delay` of 25 ms (RFC 9000 section 18.2). Time,
// datagram size and initial RTT (else 333 ms, RFC 9002 section 6.2.2) are those of the `ccffi_setup`.
typedef struct ccffi_path_config {
    // The peer's `max_ack_delay`, nanoseconds. Optional.
    uint64_t max_ack_delay;
    // `kPacketThreshold` (RFC 9002 section 6.1.1). Optional, else 3; looked at only with loss detection.
    uint32_t packet_threshold;
    // Numerator of `kTimeThreshold` (RFC 9002 section 6.1.2). Optional, else 9.
    uint32_t time_numerator;
    // Denominator of `kTimeThreshold`; 0 counts as 1. Optional, else 8.
    uint32_t time_denominator;
    // Which optional fields are set: `CCFFI_PATH_CONFIG_HAS_...`.
    uint32_t has;
} ccffi_path_config;

// Whether a packet may be sent.
typedef struct ccffi_send_decision {
    // With `CCFFI_SEND_AT`: not before this time, nanoseconds.
    uint64_t at;
    // The answer (`ccffi_send`).
    uint32_t send;
    // With `CCFFI_SEND_BLOCKED`: what stops it (`ccffi_send_limit`); a full ring is `CCFFI_SEND_LIMIT_UNKNOWN`.
    uint32_t limit;
} ccffi_send_decision;

// A packet handed to the network.
typedef struct ccffi_outgoing_packet {
    // Its size in bytes, UDP payload; clamped to 65 535.
    uint64_t bytes;
    // Its departure time, nanoseconds.
    uint64_t sent_at;
    // Its packet number space (`ccffi_space`).
    uint32_t space;
    // Whether it counts in flight: ack-eliciting or padded (RFC 9002 section 2).
    uint8_t in_flight;
    // Whether it is ack-eliciting.
    uint8_t ack_eliciting;
    // Whether it carries stream or datagram data.
    uint8_t carries_data;
} ccffi_outgoing_packet;

// What a frame ends with.
typedef struct ccffi_frame_end {
    // The peer's ack delay as decoded from the frame, nanoseconds. Optional.
    uint64_t ack_delay;
    // How many packets the frame newly acked that the path does not keep: ACK-only ones.
    uint64_t untracked_acked;
    // Send time of the frame's largest acknowledged packet, if the frame newly acks it and the path does not keep it,
    // nanoseconds. Optional.
    uint64_t largest_untracked;
    // What made the stack declare the losses (`ccffi_loss_cause`); unknown counts as an ACK.
    uint32_t cause;
    // Which optional fields are set: `CCFFI_FRAME_END_HAS_...`.
    uint32_t has;
} ccffi_frame_end;

// What a frame came to.
typedef struct ccffi_frame_report {
    // Bytes newly acked that had not been declared lost.
    uint64_t newly_acked;
    // Bytes newly declared lost.
    uint64_t newly_lost;
    // Bytes acked after having been declared lost.
    uint64_t late_acked;
    // Lowest number newly declared lost. Optional.
    uint64_t lost_first;
    // Highest number newly declared lost. Optional. With loss detection by the path, a packet between them that the stack has
    // not seen acked and that is no longer outstanding is lost.
    uint64_t lost_last;
    // The RTT sample, ack delay included, nanoseconds. Optional.
    uint64_t rtt_sample;
    // The raw rate sample. Optional.
    struct ccffi_rate_sample rate_sample;
    // Which optional fields are set: `CCFFI_FRAME_REPORT_HAS_...`.
    uint32_t has;
    // Whether the losses established persistent congestion.
    uint8_t persistent_congestion;
} ccffi_frame_report;

// A packet in flight.
typedef struct ccffi_outstanding {
    // Its number.
    uint64_t number;
    // Its send time, nanoseconds.
    uint64_t sent_at;
    // Its size in bytes.
    uint64_t bytes;
    // Its packet number space (`ccffi_space`).
    uint32_t space;
} ccffi_outstanding;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// A few words for a status, in English; "unknown status" for a number that is none. Never NULL, never freed.
const char *ccffi_status_text(int32_t status);

// The ABI version of the library: what `CCFFI_ABI_VERSION` of the header must be.
uint32_t ccffi_abi_version(void);

// How many algorithms there are.
size_t ccffi_algorithm_count(void);

// The number of the algorithm with this index, from 0 to `ccffi_algorithm_count() - 1`; 0 for any other index.
uint32_t ccffi_algorithm_number(size_t index);

// The name of the algorithm with this number, in lower case; NULL if there is none. Never freed.
const char *ccffi_algorithm_name(uint32_t number);

// Writes the number of the algorithm with this name to `number`. Upper and lower case are different.
//
// Fails with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED`, or `CCFFI_STATUS_UNKNOWN_ALGORITHM`.
//
// # Safety
//
// `name` is NULL or points to a string that ends with a zero; `number` is NULL or points to a `uint32_t`.
ccffi_status ccffi_algorithm_by_name(const char *name,
                                     uint32_t *number);

// Bytes that a controller takes, of whatever algorithm.
size_t ccffi_controller_size(void);

// Alignment of a controller in bytes: no more than that of `uint64_t`.
size_t ccffi_controller_align(void);

// Makes a controller in `memory`, which has `size` bytes. From then on `memory` is a `ccffi_controller *`. What was there is overwritten;
// a controller that is no longer needed is just forgotten.
//
// `abi_version` is `CCFFI_ABI_VERSION`. `algorithm` is one of `CCFFI_ALGORITHM_...`.
//
// Fails with `CCFFI_STATUS_NULL_POINTER`, `CCFFI_STATUS_MISALIGNED`, `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION`,
// `CCFFI_STATUS_UNKNOWN_ALGORITHM`, `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or
// `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
//
// # Safety
//
// `memory` is NULL or points to `size` bytes that nobody else uses during the call; `setup` is NULL or points to an initialised
// `ccffi_setup` outside of them.
ccffi_status ccffi_controller_init(void *memory,
                                   size_t size,
                                   uint32_t abi_version,
                                   uint32_t algorithm,
                                   const struct ccffi_setup *setup);

// Makes a copy of a controller in `memory`, which has `size` bytes: for a migrated path.
//
// Fails also with `CCFFI_STATUS_TOO_SMALL`.
//
// # Safety
//
// The common contract for `controller`; `memory` is NULL or points to `size` bytes outside of it that nobody else uses
// during the call.
ccffi_status ccffi_controller_clone(const struct ccffi_controller *controller,
                                    void *memory,
                                    size_t size);

// A packet was handed to the network. `path` is the state after it. Stacks that never call it lose precision, not correctness.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`; so do all
// events.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_packet_sent(struct ccffi_controller *controller,
                                  const struct ccffi_path_state *path,
                                  const struct ccffi_sent_packet *packet);

// Packets were newly acknowledged: `count` entries at `packets`, ascending by send order. A frame may be cut into several calls
// (`more`).
//
// Fails as all events do, and with `CCFFI_STATUS_INVALID_LENGTH`.
//
// # Safety
//
// The common contract; `packets` points to `count` entries, or is NULL, or `count` is 0.
ccffi_status ccffi_on_ack(struct ccffi_controller *controller,
                          const struct ccffi_path_state *path,
                          const struct ccffi_ack *ack,
                          const struct ccffi_acked_packet *packets,
                          size_t count);

// Packets were declared lost by packet or time threshold (RFC 9002 section 6.1): `count` entries at `packets`, ascending by send
// order. Losses may be cut into several calls (`more`), of which each has in `path->lost` what the calls before it declared lost.
//
// Fails as all events do, and with `CCFFI_STATUS_INVALID_LENGTH`.
//
// # Safety
//
// The common contract; `packets` points to `count` entries, or is NULL, or `count` is 0.
ccffi_status ccffi_on_loss(struct ccffi_controller *controller,
                           const struct ccffi_path_state *path,
                           const struct ccffi_loss *loss,
                           const struct ccffi_lost_packet *packets,
                           size_t count);

// Validated ECN counts arrived, also when none of them is CE.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_ecn(struct ccffi_controller *controller,
                          const struct ccffi_path_state *path,
                          const struct ccffi_ecn_event *ecn);

// An RTT was measured: once per frame that acked something new.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_rtt(struct ccffi_controller *controller,
                          const struct ccffi_path_state *path,
                          const struct ccffi_rtt *rtt);

// Window and pacer allow sending, and no data is left.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_app_limited(struct ccffi_controller *controller,
                                  const struct ccffi_path_state *path);

// A packet in flight is about to be sent after the flight had been empty for `idle` nanoseconds. Called before the packet is
// counted; not before the first packet of all.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_idle_restart(struct ccffi_controller *controller,
                                   const struct ccffi_path_state *path,
                                   uint64_t idle);

// A packet declared lost was acked after all.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_spurious_loss(struct ccffi_controller *controller,
                                    const struct ccffi_path_state *path,
                                    const struct ccffi_spurious_loss *packet);

// All losses of the last recovery period turned out to be spurious: for a stack that gives no detail.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_spurious_losses(struct ccffi_controller *controller,
                                      const struct ccffi_path_state *path);

// `bytes` left the network without being acked or lost; `reason` is a `ccffi_discard_reason`.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_discarded(struct ccffi_controller *controller,
                                const struct ccffi_path_state *path,
                                uint64_t bytes,
                                uint32_t reason);

// `path->max_datagram_size` changed; `change` is a `ccffi_mtu_change`.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_mtu_update(struct ccffi_controller *controller,
                                 const struct ccffi_path_state *path,
                                 uint32_t change);

// The network path changed; `change` is a `ccffi_path_change`.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_path_change(struct ccffi_controller *controller,
                                  const struct ccffi_path_state *path,
                                  uint32_t change);

// State of an earlier connection on the path became known (RFC 9959): its congestion window in bytes, and its minimum RTT in
// nanoseconds. May come after construction.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_resume_hint(struct ccffi_controller *controller,
                                  const struct ccffi_path_state *path,
                                  uint64_t cwnd,
                                  uint64_t rtt);

// The peer's ACK policy changed (draft-ietf-quic-ack-frequency): ack-eliciting packets per ACK, and maximum ack delay in
// nanoseconds.
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_ack_policy(struct ccffi_controller *controller,
                                 const struct ccffi_path_state *path,
                                 uint64_t packets,
                                 uint64_t max_ack_delay);

// The codepoint really in use changed (`ccffi_ecn`); `CCFFI_ECN_NOT_ECT` after failed validation (RFC 9000 section 13.4.2).
//
// Fails as all events do.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_on_ecn_state(struct ccffi_controller *controller,
                                const struct ccffi_path_state *path,
                                uint32_t codepoint);

// Writes what the controller asks for to `outputs`. To be read again after every event and for every burst.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_get_outputs(const struct ccffi_controller *controller,
                               struct ccffi_outputs *outputs);

// The congestion window in bytes, which is never 0; 0 if there is no controller.
//
// # Safety
//
// The common contract.
uint64_t ccffi_get_cwnd(const struct ccffi_controller *controller);

// The pacing rate in bytes per second, which is never 0; `CCFFI_UNPACED` for "do not pace"; 0 if there is no controller.
//
// # Safety
//
// The common contract.
uint64_t ccffi_get_pacing_rate(const struct ccffi_controller *controller);

// Writes the state for logs to `snapshot`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_get_snapshot(const struct ccffi_controller *controller,
                                struct ccffi_snapshot *snapshot);

// Bytes that a sampler takes.
size_t ccffi_rate_size(void);

// Alignment of a sampler in bytes: no more than that of `uint64_t`.
size_t ccffi_rate_align(void);

// Makes a sampler in `memory`, which has `size` bytes. `sampling_rule` and `min_ack_interval` (nanoseconds) are those of the
// controller's `ccffi_outputs`; the latter is looked at only with `CCFFI_SAMPLING_RULE_LAST_ACCEPTED_SAMPLE`.
//
// Fails also with `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION` or `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// `memory` is NULL or points to `size` bytes that nobody else uses during the call.
ccffi_status ccffi_rate_init(void *memory,
                             size_t size,
                             uint32_t abi_version,
                             uint32_t sampling_rule,
                             uint64_t min_ack_interval);

// A packet that counts in flight is sent at `sent_at`: writes what is to be stored with it to `snapshot`. Bytes in flight are
// those before it, and with it.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_on_sent(struct ccffi_rate *rate,
                                uint64_t sent_at,
                                uint64_t bytes_in_flight_before,
                                uint64_t bytes_in_flight_after,
                                struct ccffi_packet_snapshot *snapshot);

// A packet was newly acked at `now`. Of `packet`, its number, send time, bytes, snapshot and `was_lost` count; without a snapshot
// its bytes count as delivered and it gives no sample.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_HAS`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_on_acked(struct ccffi_rate *rate,
                                 uint64_t now,
                                 const struct ccffi_acked_packet *packet);

// `bytes` were declared lost.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_on_lost(struct ccffi_rate *rate, uint64_t bytes);

// `bytes` left the network without being acked or lost.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_on_discarded(struct ccffi_rate *rate, uint64_t bytes);

// Window and pacer allow sending, and no data is left; also called where a controller's `marks_app_limited` is set.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_on_app_limited(struct ccffi_rate *rate,
                                       uint64_t bytes_in_flight);

// The path changed: packets sent from now on start from a new reference point. Totals go on.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_reset_reference(struct ccffi_rate *rate);

// All packets of the frame were given. Writes 1 to `given` and the raw sample to `sample`, or 0 to `given` if none was acked.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_finish_frame(struct ccffi_rate *rate,
                                     uint64_t now,
                                     struct ccffi_rate_sample *sample,
                                     uint8_t *given);

// Writes the totals that `ccffi_path_state` wants: bytes delivered, bytes declared lost, and whether a packet sent now would be
// marked application-limited.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_rate_totals(const struct ccffi_rate *rate,
                               uint64_t *delivered,
                               uint64_t *lost,
                               uint8_t *app_limited);

// Bytes that a path for `capacity` packets in flight takes: 64, 512 or 4096. 0 for any other capacity.
size_t ccffi_path_size(size_t capacity);

// Alignment of a path in bytes: no more than that of `uint64_t`.
size_t ccffi_path_align(void);

// Makes a path in `memory`, which has `size` bytes: `ccffi_path_size(capacity)`, or the constant `CCFFI_PATH_SIZE(capacity)`, which
// is a little more. From then on `memory` is a `ccffi_path *`. `capacity` is 64, 512 or 4096 packets in flight. A release build
// makes the path in place, with about a kilobyte of stack; a debug build makes it on the stack first.
//
// `abi_version` is `CCFFI_ABI_VERSION`. `algorithm` is one of `CCFFI_ALGORITHM_...`.
//
// Fails also with `CCFFI_STATUS_UNKNOWN_CAPACITY`, `CCFFI_STATUS_TOO_SMALL`, `CCFFI_STATUS_ABI_VERSION`,
// `CCFFI_STATUS_UNKNOWN_ALGORITHM`, `CCFFI_STATUS_INVALID_ENUM`, `CCFFI_STATUS_INVALID_HAS` or
// `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
//
// # Safety
//
// `memory` is NULL or points to `size` bytes that nobody else uses during the call; `setup` and `config` are NULL or point to
// initialised structs outside of them.
ccffi_status ccffi_path_init(void *memory,
                             size_t size,
                             uint32_t abi_version,
                             size_t capacity,
                             uint32_t algorithm,
                             const struct ccffi_setup *setup,
                             const struct ccffi_path_config *config);

// Writes to `decision` whether a packet of `bytes` bytes may be sent at `now`, by window and pacer. Not to be asked for probes and
// ACK-only packets.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_poll_send(struct ccffi_path *path,
                                  uint64_t now,
                                  uint64_t bytes,
                                  struct ccffi_send_decision *decision);

// A packet was handed to the network. Writes its number to `number`. A packet that is not in flight (ACK-only) takes no number: what
// is written is the number that the next packet in flight will get.
//
// Fails also with `CCFFI_STATUS_RING_FULL` or `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_on_packet_sent(struct ccffi_path *path,
                                       uint64_t now,
                                       const struct ccffi_outgoing_packet *packet,
                                       uint64_t *number);

// A part of a frame: the packet is acked, whether or not it was acked before. Of an ACK frame's ranges, naming the newly acked
// packets is enough. Takes effect with `ccffi_path_finish`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_acked(struct ccffi_path *path,
                              uint64_t number);

// The same with the time at which the peer received the packet, on the peer's clock, nanoseconds (draft-ietf-quic-receive-ts).
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_acked_at(struct ccffi_path *path,
                                 uint64_t number,
                                 uint64_t received_at);

// A part of a frame: the packet is declared lost. Ignored unless it is in flight; an ack of the same frame wins.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_lost(struct ccffi_path *path,
                             uint64_t number);

// A part of a frame: validated increases of the peer's ECN counts.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_ecn(struct ccffi_path *path, uint64_t ce, uint64_t ect0, uint64_t ect1);

// The frame is complete: settles its packets and tells the controller. Writes what it came to to `report`, which may be NULL.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_HAS`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_finish(struct ccffi_path *path,
                               uint64_t now,
                               const struct ccffi_frame_end *end,
                               struct ccffi_frame_report *report);

// Writes to `given` whether `ccffi_path_on_loss_timeout` is to be called, and if so to `deadline` when: never without loss
// detection by the path.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_loss_deadline(const struct ccffi_path *path,
                                      uint64_t *deadline,
                                      uint8_t *given);

// The loss deadline has passed: declares lost what has become so. Writes what it came to to `report`, which may be NULL.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_on_loss_timeout(struct ccffi_path *path,
                                        uint64_t now,
                                        struct ccffi_frame_report *report);

// No data is left to send although window and pacer allow it.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_on_app_limited(struct ccffi_path *path, uint64_t now);

// Says what stopped the last attempt to send (`ccffi_send_limit`), for a stack that is held back by something else than
// `ccffi_path_poll_send`.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_note_limit(struct ccffi_path *path,
                                   uint32_t limit);

// Writes to `departure` when the pacer lets a packet of `bytes` bytes leave, whatever the window says; `now` or earlier is at once.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_departure(struct ccffi_path *path,
                                  uint64_t now,
                                  uint64_t bytes,
                                  uint64_t *departure);

// Writes to `bytes` how many bytes the pacer lets leave at `now`, whatever the window says; `UINT64_MAX` if unpaced.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_pacing_allowance(struct ccffi_path *path,
                                         uint64_t now,
                                         uint64_t *bytes);

// Writes to `bytes` the most that may be in flight: the congestion window, or what the free entries of the ring allow.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_window(const struct ccffi_path *path,
                               uint64_t *bytes);

// Writes the state of the path, as an event at `now` would carry it, to `state`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_get_state(const struct ccffi_path *path,
                                  uint64_t now,
                                  struct ccffi_path_state *state);

// Writes what the path's controller asks for to `outputs`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_get_outputs(const struct ccffi_path *path, struct ccffi_outputs *outputs);

// Writes the state of the path's controller for logs to `snapshot`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_get_snapshot(const struct ccffi_path *path,
                                     struct ccffi_snapshot *snapshot);

// Writes to `given` whether a packet is in flight whose number is `first` or higher, and if so the one with the lowest number to
// `packet`. A walk over all packets in flight begins with 0 and goes on with the number found, plus 1.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_next_outstanding(const struct ccffi_path *path,
                                         uint64_t first,
                                         struct ccffi_outstanding *packet,
                                         uint8_t *given);

// Whether the handshake has finished at this endpoint: 0 or not. It counts as finished in a new path.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_set_handshake_ready(struct ccffi_path *path,
                                            uint8_t ready);

// The maximum datagram size changed; clamped to 65 527 bytes. `change` is a `ccffi_mtu_change`.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM` or `CCFFI_STATUS_INVALID_DATAGRAM_SIZE`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_set_max_datagram_size(struct ccffi_path *path,
                                              uint64_t now,
                                              uint64_t bytes,
                                              uint32_t change);

// State of an earlier connection on the path became known (RFC 9959): its congestion window in bytes, and its minimum RTT in
// nanoseconds.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_resume(struct ccffi_path *path,
                               uint64_t now,
                               uint64_t cwnd,
                               uint64_t rtt);

// The network path changed (`ccffi_path_change`). On a new path packets sent so far are no longer looked at.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_changed(struct ccffi_path *path,
                                uint64_t now,
                                uint32_t change);

// The peer's ACK policy changed: ack-eliciting packets per ACK, and maximum ack delay in nanoseconds.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_set_ack_policy(struct ccffi_path *path,
                                       uint64_t now,
                                       uint64_t packets,
                                       uint64_t max_ack_delay);

// The ECN codepoint in use changed (`ccffi_ecn`); `CCFFI_ECN_NOT_ECT` after failed validation.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_set_ecn_state(struct ccffi_path *path, uint64_t now, uint32_t codepoint);

// The packet left the network without being acked or lost (`ccffi_discard_reason`): a lost path MTU probe, for instance. Ignored
// unless it is in flight.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_discard(struct ccffi_path *path,
                                uint64_t now,
                                uint64_t number,
                                uint32_t reason);

// The keys of a packet number space (`ccffi_space`) were dropped: its packets leave the flight.
//
// Fails also with `CCFFI_STATUS_INVALID_ENUM`.
//
// # Safety
//
// The common contract.
ccffi_status ccffi_path_discard_space(struct ccffi_path *path, uint64_t now, uint32_t space);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CC_FFI_H */
