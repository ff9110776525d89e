//! Every subcommand of nfdc, in the forms that its manual has.

use super::steps::Step;

const fn ok(words: &'static str, contains: &'static str) -> Step {
    Step { words, code: 0, contains }
}

const fn fails(words: &'static str, code: i32) -> Step {
    Step { words, code, contains: "" }
}

/// The subcommands and the commands of each, in order: later ones need the faces and routes of earlier ones.
/// The neighbour has the address 10.0.0.2, and this node 10.0.0.1.
pub(super) const SCRIPT: [(&str, &[Step]); 19] = [
    (
        "face create",
        &[
            ok(
                "face create udp4://10.0.0.2:6363 persistency permanent mtu 1450 reliability on",
                "face-created id=",
            ),
            ok("face create remote udp4://10.0.0.2:6363", "face-exists"),
            ok("face create udp://10.0.0.2 mtu 1400", "face-updated"),
            ok("face create udp4://10.0.0.2:6363 mtu auto", "face-updated"),
            ok("face create udp4://10.0.0.2:6363 reliability off", "face-updated"),
            ok("face create udp4://10.0.0.2:6363 congestion-marking off", "face-updated"),
            ok(
                "face create udp4://10.0.0.2:6363 congestion-marking on congestion-marking-interval 50 \
                 default-congestion-threshold 32768",
                "face-updated",
            ),
            ok("face create udp4://10.0.0.2:7001 persistent congestion-marking off", "face-created"),
            ok("face create tcp4://10.0.0.2:6363", "face-created"),
            ok("face create tcp4://10.0.0.2:6363 persistency permanent", "face-updated"),
            ok("face create ether://[{mac}] local dev://l0 persistency permanent", "face-created"),
            fails("face create ether://[{mac}]", 1),
            fails("face create unix:///run/nothing", 4),
        ],
    ),
    (
        "face list",
        &[
            ok("face", "faceid="),
            ok("face list", "remote=udp4://10.0.0.2:6363"),
            ok("face list udp4://10.0.0.2:6363", "udp4://10.0.0.2:6363"),
            ok("face list remote tcp4://10.0.0.2:6363 scheme tcp4", "tcp4://10.0.0.2:6363"),
            ok("face list local udp4://10.0.0.1:6363", "local=udp4://10.0.0.1:6363"),
            ok("face list scheme udp4", "udp4://10.0.0.2:7001"),
            ok("face list scheme dev", "dev://l0"),
            fails("face list scheme nothing", 3),
        ],
    ),
    (
        "face show",
        &[
            ok("face create udp4://10.0.0.2:6363", "face-exists"),
            ok("face show {id}", "permanent"),
            ok("face show id {id}", "udp4://10.0.0.2:6363"),
            fails("face show 99999", 3),
        ],
    ),
    (
        "route add",
        &[
            ok("route add /t/a udp4://10.0.0.2:6363", "route-add-accepted"),
            ok("route add prefix /t/b nexthop {id} origin static cost 100", "route-add-accepted"),
            ok("route add /t/b {id} origin 65 cost 20 no-inherit capture expires 3600000", "cost=20"),
            ok("route add /t/b {id} origin nlsr cost 7", "origin=nlsr"),
            ok("route add /t/c udp4://10.0.0.2:7002", "route-add-accepted"),
            fails("route add /t/d 99999", 3),
        ],
    ),
    (
        "route list",
        &[
            ok("face create udp4://10.0.0.2:6363", "face-exists"),
            ok("route", "prefix=/t/a"),
            ok("route list", "prefix=/t/b"),
            ok("route list {id}", "prefix=/t/b"),
            ok("route list nexthop udp4://10.0.0.2:6363 origin client", "prefix=/t/b"),
            ok("route list origin nlsr", "cost=7"),
            fails("route list origin 77", 6),
        ],
    ),
    ("route show", &[ok("route show /t/b", "prefix=/t/b"), fails("route show prefix /t/nothing", 6)]),
    ("fib list", &[ok("fib", "/t/a"), ok("fib list", "/t/b")]),
    (
        "route remove",
        &[
            ok("route remove /t/b {id} origin client", "route-removed"),
            ok("route remove prefix /t/b nexthop udp4://10.0.0.2:6363", "route-removed"),
            ok("route remove /t/nothing {id}", ""),
            fails("route remove /t/a 99999", 3),
        ],
    ),
    ("channel list", &[ok("channel", "udp4://"), ok("channel list", "tcp4://")]),
    ("cs info", &[ok("cs", "capacity="), ok("cs info", "nMisses=")]),
    (
        "cs config",
        &[
            ok("cs config", "cs-config-updated"),
            ok("cs config capacity 1000 admit off serve off", "capacity=1000 admit=off serve=off"),
            ok("cs config admit on serve on", "admit=on serve=on"),
        ],
    ),
    ("cs erase", &[ok("cs erase /t", "cs-erased"), ok("cs erase /t count 5", "cs-erased")]),
    (
        "strategy set",
        &[
            ok("strategy set /t /localhost/nfd/strategy/access", "strategy-set"),
            ok("strategy set prefix /t strategy /localhost/nfd/strategy/multicast/v=5", "strategy-set"),
            ok("strategy set /t/a /localhost/nfd/strategy/asf/v=5/max-timeouts~3", "strategy-set"),
            ok(
                "strategy set /t/b /localhost/nfd/strategy/best-route/v=5/retx-suppression-max~500",
                "strategy-set",
            ),
            ok("strategy set /t/c /localhost/nfd/strategy/random", "strategy-set"),
            ok("strategy set /t/d /localhost/nfd/strategy/self-learning", "strategy-set"),
            fails("strategy set /t /localhost/nfd/strategy/nothing", 7),
            fails("strategy set /t/e /localhost/nfd/strategy/best-route/v=999", 7),
        ],
    ),
    ("strategy list", &[ok("strategy", "prefix=/t "), ok("strategy list", "strategy=/localhost/nfd/")]),
    ("strategy show", &[ok("strategy show /t/a/x", "prefix=/t/a"), ok("strategy show prefix /", "prefix=/")]),
    (
        "strategy unset",
        &[
            ok("strategy unset /t/a", "strategy-unset"),
            ok("strategy unset prefix /t", "strategy-unset"),
            fails("strategy unset /", 2),
        ],
    ),
    ("status", &[ok("status", "General NFD status"), ok("status show", "nPitEntries=")]),
    (
        "status report",
        &[
            ok("status report", "Strategy choices:"),
            ok("status report text", "Faces:"),
            ok("status report xml", "<nfdStatus"),
        ],
    ),
    (
        "face destroy",
        &[
            ok("face destroy tcp4://10.0.0.2:6363", "face-destroyed"),
            ok("face create udp4://10.0.0.2:7001", "face-exists"),
            ok("face destroy {id}", "face-destroyed"),
            fails("face destroy udp4://10.0.0.77:6363", 3),
        ],
    ),
];
