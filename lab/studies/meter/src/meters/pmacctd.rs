//! pmacctd, with IPFIX by its plugin nfprobe.

use super::Job;
use crate::error::MeterError;
use std::ffi::OsString;
use std::fs;

pub(super) fn program(job: &Job<'_>) -> Result<Vec<OsString>, MeterError> {
    let path = job.folder.join("pmacctd.conf");
    let config = config(job);
    fs::write(&path, config).map_err(MeterError::io("cannot write the configuration of pmacctd"))?;
    Ok(vec!["pmacctd".into(), "-f".into(), path.into()])
}

/// Our timeouts, a flow limit that no workload reaches, and a pipe that loses nothing.
fn config(job: &Job<'_>) -> String {
    let (capture, sink) = (job.capture.display(), job.sink);
    format!(
        "pcap_savefile: {capture}\nplugins: nfprobe\naggregate: src_host,dst_host,src_port,dst_port,proto\n\
         nfprobe_receiver: {sink}\nnfprobe_version: 10\nnfprobe_maxflows: 1000000\n\
         nfprobe_timeouts: tcp=60:tcp.rst=60:tcp.fin=60:udp=60:general=60:maxlife=300\n\
         plugin_buffer_size: 1024000\nplugin_pipe_size: 102400000\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::path::Path;

    #[test]
    fn the_configuration_names_the_capture() {
        let folder = tempfile::tempdir().unwrap();
        let sink = SocketAddr::from(([127, 0, 0, 1], 9));
        let capture = Path::new("/data/mix.pcap");
        let job = Job { command: Path::new("hashlane"), capture, folder: folder.path(), sink };
        let program = program(&job).unwrap();
        let text = fs::read_to_string(&program[2]).unwrap();
        assert!(text.starts_with("pcap_savefile: /data/mix.pcap\nplugins: nfprobe\n"), "{text}");
        assert!(text.contains("\nnfprobe_receiver: 127.0.0.1:9\n"), "{text}");
    }
}
