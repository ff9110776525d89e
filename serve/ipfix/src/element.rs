//! Numbers of information elements, <https://www.iana.org/assignments/ipfix>.

/// `octetDeltaCount`.
pub const OCTET_DELTA_COUNT: u16 = 1;
/// `packetDeltaCount`.
pub const PACKET_DELTA_COUNT: u16 = 2;
/// `protocolIdentifier`.
pub const PROTOCOL_IDENTIFIER: u16 = 4;
/// `tcpControlBits`.
pub const TCP_CONTROL_BITS: u16 = 6;
/// `sourceTransportPort`.
pub const SOURCE_TRANSPORT_PORT: u16 = 7;
/// `sourceIPv4Address`.
pub const SOURCE_IPV4_ADDRESS: u16 = 8;
/// `ingressInterface`.
pub const INGRESS_INTERFACE: u16 = 10;
/// `destinationTransportPort`.
pub const DESTINATION_TRANSPORT_PORT: u16 = 11;
/// `destinationIPv4Address`.
pub const DESTINATION_IPV4_ADDRESS: u16 = 12;
/// `flowEndSysUpTime`.
pub const FLOW_END_SYS_UP_TIME: u16 = 21;
/// `flowStartSysUpTime`.
pub const FLOW_START_SYS_UP_TIME: u16 = 22;
/// `sourceIPv6Address`.
pub const SOURCE_IPV6_ADDRESS: u16 = 27;
/// `destinationIPv6Address`.
pub const DESTINATION_IPV6_ADDRESS: u16 = 28;
/// `icmpTypeCodeIPv4`.
pub const ICMP_TYPE_CODE_IPV4: u16 = 32;
/// `samplingInterval`.
pub const SAMPLING_INTERVAL: u16 = 34;
/// `samplingAlgorithm`.
pub const SAMPLING_ALGORITHM: u16 = 35;
/// `exportedOctetTotalCount`.
pub const EXPORTED_OCTET_TOTAL_COUNT: u16 = 40;
/// `exportedMessageTotalCount`.
pub const EXPORTED_MESSAGE_TOTAL_COUNT: u16 = 41;
/// `exportedFlowRecordTotalCount`.
pub const EXPORTED_FLOW_RECORD_TOTAL_COUNT: u16 = 42;
/// `vlanId`.
pub const VLAN_ID: u16 = 58;
/// `interfaceName`.
pub const INTERFACE_NAME: u16 = 82;
/// `octetTotalCount`.
pub const OCTET_TOTAL_COUNT: u16 = 85;
/// `packetTotalCount`.
pub const PACKET_TOTAL_COUNT: u16 = 86;
/// `flowEndReason`.
pub const FLOW_END_REASON: u16 = 136;
/// `icmpTypeCodeIPv6`.
pub const ICMP_TYPE_CODE_IPV6: u16 = 139;
/// `exportingProcessId`.
pub const EXPORTING_PROCESS_ID: u16 = 144;
/// `observationDomainId`.
pub const OBSERVATION_DOMAIN_ID: u16 = 149;
/// `flowStartSeconds`.
pub const FLOW_START_SECONDS: u16 = 150;
/// `flowEndSeconds`.
pub const FLOW_END_SECONDS: u16 = 151;
/// `flowStartMilliseconds`.
pub const FLOW_START_MILLISECONDS: u16 = 152;
/// `flowEndMilliseconds`.
pub const FLOW_END_MILLISECONDS: u16 = 153;
/// `flowStartMicroseconds`.
pub const FLOW_START_MICROSECONDS: u16 = 154;
/// `flowEndMicroseconds`.
pub const FLOW_END_MICROSECONDS: u16 = 155;
/// `flowStartNanoseconds`.
pub const FLOW_START_NANOSECONDS: u16 = 156;
/// `flowEndNanoseconds`.
pub const FLOW_END_NANOSECONDS: u16 = 157;
/// `flowStartDeltaMicroseconds`.
pub const FLOW_START_DELTA_MICROSECONDS: u16 = 158;
/// `flowEndDeltaMicroseconds`.
pub const FLOW_END_DELTA_MICROSECONDS: u16 = 159;
/// `systemInitTimeMilliseconds`.
pub const SYSTEM_INIT_TIME_MILLISECONDS: u16 = 160;
/// `ignoredPacketTotalCount`.
pub const IGNORED_PACKET_TOTAL_COUNT: u16 = 164;
/// `notSentFlowTotalCount`.
pub const NOT_SENT_FLOW_TOTAL_COUNT: u16 = 166;
/// `icmpTypeIPv4`.
pub const ICMP_TYPE_IPV4: u16 = 176;
/// `icmpCodeIPv4`.
pub const ICMP_CODE_IPV4: u16 = 177;
/// `icmpTypeIPv6`.
pub const ICMP_TYPE_IPV6: u16 = 178;
/// `icmpCodeIPv6`.
pub const ICMP_CODE_IPV6: u16 = 179;
/// `biflowDirection`.
pub const BIFLOW_DIRECTION: u16 = 239;
/// `dot1qVlanId`.
pub const DOT1Q_VLAN_ID: u16 = 243;
/// `dot1qCustomerVlanId`.
pub const DOT1Q_CUSTOMER_VLAN_ID: u16 = 245;
/// `selectorId`.
pub const SELECTOR_ID: u16 = 302;
/// `selectorAlgorithm`.
pub const SELECTOR_ALGORITHM: u16 = 304;
/// `samplingPacketInterval`.
pub const SAMPLING_PACKET_INTERVAL: u16 = 305;
/// `samplingPacketSpace`.
pub const SAMPLING_PACKET_SPACE: u16 = 306;
/// `layer2SegmentId`.
pub const LAYER2_SEGMENT_ID: u16 = 351;

/// Type of overlay in the highest byte of layer2SegmentId.
pub const SEGMENT_VXLAN: u64 = 1 << 56;
