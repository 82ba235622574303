#include "mvfst.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace quic {
namespace {

/* Entries handed over at once. */
constexpr size_t kPart = 32;

uint64_t nanos(TimePoint at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

uint64_t nanos(std::chrono::microseconds span) {
  return span.count() > 0 ? uint64_t(span.count()) * 1000 : 0;
}

uint32_t spaceOf(PacketNumberSpace space) {
  switch (space) {
    case PacketNumberSpace::Initial:
      return CCFFI_SPACE_INITIAL;
    case PacketNumberSpace::Handshake:
      return CCFFI_SPACE_HANDSHAKE;
    default:
      return CCFFI_SPACE_APPLICATION;
  }
}

uint64_t increase(uint64_t now, uint64_t& before) {
  uint64_t more = now > before ? now - before : 0;
  before = std::max(now, before);
  return more;
}

} // namespace

CcffiCongestionController::CcffiCongestionController(QuicConnectionStateBase& conn, uint32_t algorithm)
    : conn_(conn), datagram_(conn.udpSendPacketLen) {
  ccffi_setup setup{};
  setup.now = nanos(Clock::now());
  setup.seed = setup.now;
  setup.max_datagram_size = datagram_;
  setup.initial_window = conn.transportSettings.initCwndInMss * datagram_;
  setup.ecn = CCFFI_ECN_ECT1;
  setup.has = CCFFI_SETUP_HAS_INITIAL_WINDOW;
  setup.unpaced = conn.pacer == nullptr;
  auto status =
      ccffi_controller_init(&controller_, sizeof controller_, CCFFI_ABI_VERSION, algorithm, &setup);
  if (status != CCFFI_STATUS_OK) {
    throw std::invalid_argument(ccffi_status_text(int32_t(status)));
  }
}

/* Packet numbers are not used: a LossEvent does not say of which space its packets are. */
ccffi_path_state CcffiCongestionController::pathState(TimePoint now) const {
  const auto& loss = conn_.lossState;
  ccffi_path_state path{};
  path.now = nanos(now);
  path.bytes_in_flight = path.prior_bytes_in_flight = loss.inflightBytes;
  path.delivered = loss.totalBytesAcked;
  path.lost = lostBytes_;
  if (loss.srtt.count() > 0) {
    path.latest_rtt = nanos(loss.maybeLrtt.value_or(loss.lrtt));
    path.smoothed_rtt = nanos(loss.srtt);
    path.min_rtt = nanos(loss.mrtt);
    path.rtt_var = nanos(loss.rttvar);
    path.has = CCFFI_PATH_HAS_RTT;
  }
  path.max_datagram_size = conn_.udpSendPacketLen;
  path.app_limited = appLimited_;
  return path;
}

void CcffiCongestionController::onRemoveBytesFromInflight(uint64_t bytes) {
  auto path = pathState(Clock::now());
  path.prior_bytes_in_flight += bytes;
  ccffi_on_discarded(&controller_, &path, bytes, CCFFI_DISCARD_REASON_KEYS_DISCARDED);
}

void CcffiCongestionController::onPacketSent(const OutstandingPacketWrapper& packet) {
  auto path = pathState(packet.metadata.time);
  uint64_t bytes = packet.metadata.encodedSize;
  path.prior_bytes_in_flight -= std::min(bytes, path.bytes_in_flight);
  if (datagram_ != conn_.udpSendPacketLen) {
    datagram_ = conn_.udpSendPacketLen;
    ccffi_on_mtu_update(&controller_, &path, CCFFI_MTU_CHANGE_DISCOVERED);
  }
  if (path.prior_bytes_in_flight == 0 && conn_.lossState.lastAckedTime) {
    uint64_t since = nanos(*conn_.lossState.lastAckedTime);
    if (path.now > since) {
      auto before = path; /* the packet is not counted yet */
      before.bytes_in_flight = 0;
      ccffi_on_idle_restart(&controller_, &before, path.now - since);
    }
  }
  ccffi_sent_packet sent{};
  sent.bytes = bytes;
  sent.sent_at = path.now;
  sent.in_flight = 1;
  sent.carries_data = 1;
  ccffi_on_packet_sent(&controller_, &path, &sent);
  maxInflight_ = std::max(maxInflight_, conn_.lossState.inflightBytes);
  setPacing();
}

/* mvfst has taken acked and lost bytes out of flight before it calls this. */
void CcffiCongestionController::onPacketAckOrLoss(const AckEvent* ackEvent, const LossEvent* lossEvent) {
  auto path = pathState(ackEvent ? ackEvent->ackTime : lossEvent->lossTime);
  uint64_t lostBytes = lossEvent ? lossEvent->lostBytes : 0;
  path.prior_bytes_in_flight += lostBytes + (ackEvent ? ackEvent->ackedBytes : 0);
  bool acks = ackEvent && ackEvent->largestNewlyAckedPacket && !ackEvent->implicit;
  if (acks) {
    tellEcn(*ackEvent, path);
    tellRtt(*ackEvent, path);
  }
  if (lossEvent && lossEvent->lostPackets > 0) {
    tellLosses(*lossEvent, path, ackEvent != nullptr);
  }
  if (acks) {
    tellAcks(*ackEvent, path, lostBytes);
  }
  setPacing();
}

void CcffiCongestionController::tellEcn(const AckEvent& ack, const ccffi_path_state& path) {
  ccffi_ecn_event ecn{};
  ecn.ce = increase(ack.ecnCECount, ce_);
  ecn.ect0 = increase(ack.ecnECT0Count, ect0_);
  ecn.ect1 = increase(ack.ecnECT1Count, ect1_);
  if (ecn.ce + ecn.ect0 + ecn.ect1 == 0) {
    return;
  }
  ecn.newly_acked = ack.ackedPackets.size();
  ecn.largest_acked_sent_at = nanos(ack.largestNewlyAckedPacketSentTime);
  ecn.space = spaceOf(ack.packetNumberSpace);
  ecn.has = CCFFI_ECN_HAS_CE | CCFFI_ECN_HAS_ECT0 | CCFFI_ECN_HAS_ECT1 | CCFFI_ECN_HAS_NEWLY_ACKED;
  ccffi_on_ecn(&controller_, &path, &ecn);
}

void CcffiCongestionController::tellRtt(const AckEvent& ack, const ccffi_path_state& path) {
  ccffi_rtt rtt{};
  uint64_t sentAt = nanos(ack.largestNewlyAckedPacketSentTime);
  rtt.latest = path.now > sentAt ? path.now - sentAt : 0;
  rtt.ack_delay = nanos(ack.ackDelay);
  rtt.space = spaceOf(ack.packetNumberSpace);
  rtt.has = CCFFI_RTT_HAS_ACK_DELAY;
  rtt.is_sample = ack.rttSample.has_value();
  rtt.is_first = !rttSeen_;
  rttSeen_ = true;
  ccffi_on_rtt(&controller_, &path, &rtt);
}

/* Of the send times only the smallest and the largest are told: all entries carry the largest. */
void CcffiCongestionController::tellLosses(const LossEvent& loss, ccffi_path_state path, bool onAck) {
  std::array<ccffi_lost_packet, kPart> packets;
  ccffi_loss event{};
  event.cause = onAck ? CCFFI_LOSS_CAUSE_ACK : CCFFI_LOSS_CAUSE_TIMER;
  event.persistent_congestion = loss.persistentCongestion;
  uint64_t sentAt = loss.largestLostSentTime ? nanos(*loss.largestLostSentTime) : 0;
  size_t total = loss.lostPacketDetails.size();
  for (size_t done = 0; done < total;) {
    size_t part = std::min(kPart, total - done);
    uint64_t bytes = 0;
    for (size_t i = 0; i < part; i++) {
      packets[i] = ccffi_lost_packet{};
      packets[i].sent_at = sentAt;
      packets[i].bytes = loss.lostPacketDetails[done + i].encodedSize;
      bytes += packets[i].bytes;
    }
    done += part;
    event.more = done < total;
    ccffi_on_loss(&controller_, &path, &event, packets.data(), part);
    path.lost += bytes;
  }
  lostBytes_ += loss.lostBytes;
}

/* mvfst stores with every packet what a rate sample needs: the packet acked last when it was sent. */
void CcffiCongestionController::tellAcks(
    const AckEvent& ack, const ccffi_path_state& path, uint64_t lostBytes) {
  std::array<ccffi_acked_packet, kPart> packets;
  ccffi_ack event{};
  uint32_t space = spaceOf(ack.packetNumberSpace);

  const auto* newest = ack.getLargestNewlyAckedPacket();
  if (newest && newest->lastAckedPacketInfo) {
    const auto& last = *newest->lastAckedPacketInfo;
    auto& sample = event.rate_sample;
    sample.sent_at = nanos(newest->outstandingPacketMetadata.time);
    sample.delivered = ack.totalBytesAcked;
    sample.snapshot.delivered = last.totalBytesAcked;
    sample.snapshot.delivered_at = nanos(last.ackTime);
    sample.snapshot.first_sent_at = nanos(last.sentTime);
    sample.snapshot.bytes_in_flight = newest->outstandingPacketMetadata.inflightBytes;
    sample.snapshot.app_limited = sample.app_limited = newest->isAppLimited;
    sample.snapshot.has = CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT;
    sample.send_interval = sample.sent_at - std::min(sample.sent_at, sample.snapshot.first_sent_at);
    sample.ack_interval = path.now - std::min(path.now, sample.snapshot.delivered_at);
    sample.newly_acked = ack.ackedBytes;
    sample.newly_lost = sample.lost_since_sent = lostBytes;
    sample.moved_reference = 1;
    event.has |= CCFFI_ACK_HAS_RATE_SAMPLE;
  }
  if (space == CCFFI_SPACE_APPLICATION) {
    newestDataSent_ = std::max(
        newestDataSent_.value_or(ack.largestNewlyAckedPacketSentTime), ack.largestNewlyAckedPacketSentTime);
  }
  if (newestDataSent_) {
    event.newest_data_sent_at = nanos(*newestDataSent_);
    event.has |= CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT;
  }
  if (appLimitedAt_) {
    event.app_limited_at = nanos(*appLimitedAt_);
    event.has |= CCFFI_ACK_HAS_APP_LIMITED_AT;
    if (*appLimitedAt_ <= ack.largestNewlyAckedPacketSentTime) {
      appLimited_ = false;
    }
  }
  event.max_bytes_in_flight = std::max(maxInflight_, path.prior_bytes_in_flight);
  event.limited_by = event.max_bytes_in_flight + datagram_ > getCongestionWindow()
      ? CCFFI_SEND_LIMIT_CWND
      : appLimited_ ? CCFFI_SEND_LIMIT_NO_DATA : CCFFI_SEND_LIMIT_UNKNOWN;
  maxInflight_ = conn_.lossState.inflightBytes;

  size_t total = ack.ackedPackets.size();
  for (size_t done = 0; done < total;) {
    size_t part = std::min(kPart, total - done);
    for (size_t i = 0; i < part; i++) {
      const auto& metadata = ack.ackedPackets[done + i].outstandingPacketMetadata;
      packets[i] = ccffi_acked_packet{};
      packets[i].sent_at = nanos(metadata.time);
      packets[i].bytes = metadata.encodedSize;
      packets[i].packets = 1;
      packets[i].space = space;
      packets[i].has = CCFFI_ACKED_HAS_PACKETS;
    }
    done += part;
    event.more = done < total;
    ccffi_on_ack(&controller_, &path, &event, packets.data(), part);
  }
}

void CcffiCongestionController::setPacing() {
  uint64_t rate = ccffi_get_pacing_rate(&controller_);
  if (conn_.pacer && rate != 0) {
    if (rate == CCFFI_UNPACED) {
      conn_.pacer->refreshPacingRate(getCongestionWindow(), std::chrono::microseconds(0));
    } else {
      conn_.pacer->setPacingRate(rate);
    }
  }
}

uint64_t CcffiCongestionController::getWritableBytes() const {
  ccffi_outputs out{};
  ccffi_get_outputs(&controller_, &out);
  uint64_t inflight = conn_.lossState.inflightBytes;
  if (out.cwnd > inflight) {
    return out.cwnd - inflight;
  }
  return out.may_send_beyond_cwnd ? conn_.udpSendPacketLen : 0;
}

uint64_t CcffiCongestionController::getCongestionWindow() const {
  return ccffi_get_cwnd(&controller_);
}

Optional<Bandwidth> CcffiCongestionController::getBandwidth() const {
  ccffi_snapshot log{};
  ccffi_get_snapshot(&controller_, &log);
  if (log.has & CCFFI_SNAPSHOT_HAS_BANDWIDTH) {
    return Bandwidth(log.bandwidth, std::chrono::microseconds(1000000));
  }
  return std::nullopt;
}

void CcffiCongestionController::setAppIdle(bool /* idle */, TimePoint /* eventTime */) {
  /* The end of an idle time is told by onPacketSent. */
}

void CcffiCongestionController::setAppLimited() {
  if (conn_.lossState.inflightBytes >= getCongestionWindow()) {
    return;
  }
  appLimited_ = true;
  appLimitedAt_ = Clock::now();
  auto path = pathState(*appLimitedAt_);
  ccffi_on_app_limited(&controller_, &path);
}

CongestionControlType CcffiCongestionController::type() const {
  return CongestionControlType::Custom;
}

bool CcffiCongestionController::isAppLimited() const {
  return appLimited_;
}

void CcffiCongestionController::getStats(CongestionControllerStats& /* stats */) const {
  /* The union has no member for it: use getState, or ccffi_get_snapshot. */
}

void CcffiCongestionController::setResumeHints(
    uint64_t cwndHintBytes, const Optional<std::chrono::milliseconds>& rttHint) {
  /* Without an RTT the path can not be recognised (RFC 9959). */
  if (rttHint) {
    auto path = pathState(Clock::now());
    ccffi_on_resume_hint(
        &controller_, &path, cwndHintBytes, nanos(std::chrono::microseconds(*rttHint)));
  }
}

} // namespace quic
