//! The fuzz targets, one list: libFuzzer runs each by name, and the tests replay its corpus.

use crate::{
    advertised, audit, catalogs, client, compress, dns_streams, dump, endpoints, faces, fetches, files,
    flows, forwarder, frames, imports, ipfix, management, name_lists, name_map, name_rules, ndn, patches,
    patterns, queries, reassembly, reliability, respond, rib, shards, signed, sketches, strings, traces,
    transfers, zone_files, zones,
};
use hashlane_flow::packet::Packet;
use hashlane_name::ccnx::Ccnx;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_study_flows::capture::read_from;

/// Passes the list of targets to the named macro.
#[macro_export]
macro_rules! with_targets {
    ($macro:ident) => {
        $macro![
            arrow_strings,
            audit_names,
            audit_pair,
            audit_signature,
            audit_table,
            audit_tuples,
            capture,
            config,
            datasketches_hll,
            datasketches_theta,
            dns_catalog,
            dns_compress,
            dns_disk,
            dns_import,
            dns_name,
            dns_notify,
            dns_patch,
            dns_query,
            dns_records,
            dns_render,
            dns_respond,
            dns_stream,
            dns_text,
            dns_transfer,
            dns_tsig,
            dns_zone,
            flow_burst,
            flow_config,
            flow_dissect,
            flow_fragments,
            flow_ipfix,
            flow_packet,
            name_ccnx,
            name_image,
            name_lists,
            name_map,
            name_ndn,
            name_offset,
            name_rules,
            name_uri,
            ndn_advertised,
            ndn_announcement,
            ndn_certificate,
            ndn_client,
            ndn_endpoints,
            ndn_faces,
            ndn_fetches,
            ndn_forwarder,
            ndn_management,
            ndn_mgmt,
            ndn_packet,
            ndn_pattern,
            ndn_reassembly,
            ndn_reliability,
            ndn_rib,
            ndn_shards,
            ndn_stream,
            ndn_traces,
            nfd_conf,
            prefix_burst,
            records,
            sketch_bytes,
            study,
            trust_anchor,
            xdp_frame,
            zone_file,
        ];
    };
}

/// Hashes strings in Arrow's layouts; see [`strings::check_strings`].
pub fn arrow_strings(bytes: &[u8]) {
    strings::check_strings(bytes);
}

/// Reads a file of names; see [`audit::check_names`].
pub fn audit_names(bytes: &[u8]) {
    audit::check_names(bytes);
}

/// Parses a pair of keys that collide; see [`audit::check_pair`].
pub fn audit_pair(bytes: &[u8]) {
    audit::check_pair(bytes);
}

/// Parses the signature of a function; see [`audit::check_signature`].
pub fn audit_signature(bytes: &[u8]) {
    audit::check_signature(bytes);
}

/// Parses the geometry of a table; see [`audit::check_table`].
pub fn audit_table(bytes: &[u8]) {
    audit::check_table(bytes);
}

/// Reads a file of flows; see [`audit::check_tuples`].
pub fn audit_tuples(bytes: &[u8]) {
    audit::check_tuples(bytes);
}

/// Reads a capture to its end or to an error; the result stays within its limits.
pub fn capture(bytes: &[u8]) {
    if let Ok(capture) = read_from(bytes, 100) {
        assert!(capture.tuples.len() <= 100 && capture.packets.len() <= 800);
        assert!(capture.packets.iter().all(|place| (*place as usize) < capture.tuples.len()));
        let passed_over: u64 = capture.skipped.values().sum();
        assert!(capture.full || capture.seen as u64 == capture.packets.len() as u64 + passed_over);
    }
}

/// Parses a configuration of the forwarder; see [`files::check_config`].
pub fn config(bytes: &[u8]) {
    files::check_config(bytes);
}

/// Parses a configuration of the flow meter; see [`files::check_flow_config`].
pub fn flow_config(bytes: &[u8]) {
    files::check_flow_config(bytes);
}

/// Compresses names for a writer of messages; see [`compress::check_compressor`].
pub fn dns_compress(bytes: &[u8]) {
    compress::check_compressor(bytes);
}

/// Reads catalog zones; see [`catalogs::check_catalogs`].
pub fn dns_catalog(bytes: &[u8]) {
    catalogs::check_catalogs(bytes);
}

/// Reads a zone in a file; see [`transfers::check_disk`].
pub fn dns_disk(bytes: &[u8]) {
    transfers::check_disk(bytes);
}

/// Reads a configuration of another name server; see [`imports::check_import`].
pub fn dns_import(bytes: &[u8]) {
    imports::check_import(bytes);
}

/// Reads and answers a NOTIFY; see [`signed::check_notify`].
pub fn dns_notify(bytes: &[u8]) {
    signed::check_notify(bytes);
}

/// Patches zones; see [`patches::check_patches`].
pub fn dns_patch(bytes: &[u8]) {
    patches::check_patches(bytes);
}

/// Receives a zone or its differences; see [`transfers::check_transfer`].
pub fn dns_transfer(bytes: &[u8]) {
    transfers::check_transfer(bytes);
}

/// Checks signatures of messages; see [`signed::check_signed`].
pub fn dns_tsig(bytes: &[u8]) {
    signed::check_signed(bytes);
}

/// Reads rules that were compiled; see [`name_rules::check_name_image`].
pub fn name_image(bytes: &[u8]) {
    name_rules::check_name_image(bytes);
}

/// Reads a list of names; see [`name_lists::check_name_lists`].
pub fn name_lists(bytes: &[u8]) {
    name_lists::check_name_lists(bytes);
}

/// Looks names up in rules; see [`name_rules::check_name_rules`].
pub fn name_rules(bytes: &[u8]) {
    name_rules::check_name_rules(bytes);
}

/// Parses a DNS name in wire form; see [`crate::check_dns_octets`].
pub fn dns_name(bytes: &[u8]) {
    crate::check_dns_octets(bytes);
}

/// Parses and hashes datagrams in batches and one by one; see [`queries::check_queries`].
pub fn dns_query(bytes: &[u8]) {
    queries::check_queries(bytes);
}

/// Builds a zone of records, and looks names up in it; see [`zones::check_records`].
pub fn dns_records(bytes: &[u8]) {
    zones::check_records(bytes);
}

/// Renders a DNS message and reads it back; see [`crate::check_dns_message`].
pub fn dns_render(bytes: &[u8]) {
    crate::check_dns_message(bytes);
}

/// Answers DNS queries from zones; see [`respond::check_responses`].
pub fn dns_respond(bytes: &[u8]) {
    respond::check_responses(bytes);
}

/// Divides the bytes of a TCP connection into queries; see [`dns_streams::check_stream`].
pub fn dns_stream(bytes: &[u8]) {
    dns_streams::check_stream(bytes);
}

/// Parses a DNS name in presentation form; see [`crate::check_dns_text`].
pub fn dns_text(bytes: &[u8]) {
    crate::check_dns_text(bytes);
}

/// Reads a zone file; see [`crate::check_zone`].
pub fn dns_zone(bytes: &[u8]) {
    crate::check_zone(bytes);
}

/// Receives frames in bursts and one by one; see [`flows::check_burst`].
pub fn flow_burst(bytes: &[u8]) {
    flows::check_burst(bytes);
}

/// Reads the flow of a frame; see [`flows::check_dissect`].
pub fn flow_dissect(bytes: &[u8]) {
    flows::check_dissect(bytes);
}

/// Reads IPFIX messages, and exports their flows; see [`ipfix::check_ipfix`].
pub fn flow_ipfix(bytes: &[u8]) {
    ipfix::check_ipfix(bytes);
}

/// Gives fragments the ports of their first; see [`flows::check_fragments`].
pub fn flow_fragments(bytes: &[u8]) {
    flows::check_fragments(bytes);
}

/// Reads a frame. Capturing more of it changes nothing, and the received tuple is the sent one reversed.
pub fn flow_packet(bytes: &[u8]) {
    if let Ok(packet) = Packet::ethernet(bytes) {
        assert_eq!(packet.received().reversed(), packet.sent());
        let longer = [bytes, &[0xa5; 40]].concat();
        assert_eq!(Packet::ethernet(&longer), Ok(packet));
    }
    if let Ok(packet) = Packet::ip(bytes) {
        assert_eq!(packet.received().foreign(), packet.source.0);
    }
}

/// Parses a CCNx name; see [`crate::check_octets`].
pub fn name_ccnx(bytes: &[u8]) {
    crate::check_octets::<Ccnx>(bytes);
}

/// Changes a map of prefixes, and looks names up in it; see [`name_map::check_name_map`].
pub fn name_map(bytes: &[u8]) {
    name_map::check_name_map(bytes);
}

/// Parses an NDN name; see [`crate::check_octets`].
pub fn name_ndn(bytes: &[u8]) {
    crate::check_octets::<Ndn>(bytes);
}

/// Parses an offset name; see [`crate::check_octets`].
pub fn name_offset(bytes: &[u8]) {
    crate::check_octets::<Offset>(bytes);
}

/// Parses a line of text as a name; see [`crate::check_line`].
pub fn name_uri(bytes: &[u8]) {
    crate::check_line(bytes);
}

/// Parses a prefix announcement; see [`ndn::check_announcement`].
pub fn ndn_announcement(bytes: &[u8]) {
    ndn::check_announcement(bytes);
}

/// Parses a certificate, a safe bag and trust anchors; see [`ndn::check_certificate`].
pub fn ndn_certificate(bytes: &[u8]) {
    ndn::check_certificate(bytes);
}

/// Fetches an object from a hostile forwarder; see [`client::check_fetch`].
pub fn ndn_client(bytes: &[u8]) {
    client::check_fetch(bytes);
}

/// Runs a forwarder whose faces come and go; see [`faces::check_faces`].
pub fn ndn_faces(bytes: &[u8]) {
    faces::check_faces(bytes);
}

/// Runs the advertisement of prefixes; see [`advertised::check_advertised`].
pub fn ndn_advertised(bytes: &[u8]) {
    advertised::check_advertised(bytes);
}

/// Runs commands that wait for certificates; see [`fetches::check_fetches`].
pub fn ndn_fetches(bytes: &[u8]) {
    fetches::check_fetches(bytes);
}

/// Runs shards and one forwarder through the same steps; see [`shards::check_shards`].
pub fn ndn_shards(bytes: &[u8]) {
    shards::check_shards(bytes);
}

/// Runs a forwarder with and without traces through the same steps; see [`traces::check_traces`].
pub fn ndn_traces(bytes: &[u8]) {
    traces::check_traces(bytes);
}

/// Runs a forwarder through steps; see [`forwarder::check_forwarder`].
pub fn ndn_forwarder(bytes: &[u8]) {
    forwarder::check_forwarder(bytes);
}

/// Runs the management through steps; see [`management::check_manager`].
pub fn ndn_management(bytes: &[u8]) {
    management::check_manager(bytes);
}

/// Parses commands, records of management and face URIs; see [`ndn::check_management`].
pub fn ndn_mgmt(bytes: &[u8]) {
    ndn::check_management(bytes);
}

/// Parses a link packet and its fragment; see [`ndn::check_packet`].
pub fn ndn_packet(bytes: &[u8]) {
    ndn::check_packet(bytes);
}

/// Receives frames and fragments of several senders; see [`endpoints::check_endpoints`].
pub fn ndn_endpoints(bytes: &[u8]) {
    endpoints::check_endpoints(bytes);
}

/// Reassembles packets; see [`reassembly::check_reassembly`].
pub fn ndn_reassembly(bytes: &[u8]) {
    reassembly::check_reassembly(bytes);
}

/// Sends over a link with reliability to a hostile peer; see [`reliability::check_reliability`].
pub fn ndn_reliability(bytes: &[u8]) {
    reliability::check_reliability(bytes);
}

/// Changes the RIB; see [`rib::check_rib`].
pub fn ndn_rib(bytes: &[u8]) {
    rib::check_rib(bytes);
}

/// Reassembles TCP streams from a capture; see [`dump::check_stream`].
pub fn ndn_stream(bytes: &[u8]) {
    dump::check_stream(bytes);
}

/// Hashes names of every encoding in a burst; see [`crate::check_burst`].
pub fn prefix_burst(bytes: &[u8]) {
    crate::check_burst::<Ndn>(bytes);
    crate::check_burst::<Ccnx>(bytes);
    crate::check_burst::<Offset>(bytes);
}

/// Parses the records of a study; see [`files::check_records`].
pub fn records(bytes: &[u8]) {
    files::check_records(bytes);
}

/// Reads and merges two HLL sketches of Apache DataSketches; see [`sketches::check_hll`].
pub fn datasketches_hll(bytes: &[u8]) {
    sketches::check_hll(bytes);
}

/// Reads and merges two Theta sketches of Apache DataSketches; see [`sketches::check_theta`].
pub fn datasketches_theta(bytes: &[u8]) {
    sketches::check_theta(bytes);
}

/// Reads and merges two sketches; see [`sketches::check_sketches`].
pub fn sketch_bytes(bytes: &[u8]) {
    sketches::check_sketches(bytes);
}

/// Parses the definition of a study; see [`files::check_study`].
pub fn study(bytes: &[u8]) {
    files::check_study(bytes);
}

/// Reads a file with a trust anchor; see [`files::check_anchor`].
pub fn trust_anchor(bytes: &[u8]) {
    files::check_anchor(bytes);
}

/// Reads a frame that comes by XDP, and replies to it; see [`frames::check_frame`].
pub fn xdp_frame(bytes: &[u8]) {
    frames::check_frame(bytes);
}

/// Reads a zone file for the name server; see [`zone_files::check_zone_file`].
pub fn zone_file(bytes: &[u8]) {
    zone_files::check_zone_file(bytes);
}

/// Matches a name with a pattern; see [`patterns::check_pattern`].
pub fn ndn_pattern(bytes: &[u8]) {
    patterns::check_pattern(bytes);
}

/// Reads the configuration of NFD; see [`imports::check_nfd_conf`].
pub fn nfd_conf(bytes: &[u8]) {
    imports::check_nfd_conf(bytes);
}
