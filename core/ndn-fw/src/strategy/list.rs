//! Macro that turns the list of strategies into types and dispatch.

/// Declares the strategies: one enum of them with static dispatch, and one of their kinds.
macro_rules! strategies {
    ($($(#[$doc:meta])* $module:ident::$kind:ident = $name:literal, version $version:literal;)*) => {
        $(pub use $module::$kind;)*

        /// A forwarding strategy with its parameters and measurements.
        #[derive(Clone, Debug)]
        pub enum Strategy {
            $($(#[$doc])* $kind($kind),)*
        }

        /// Kind of a forwarding strategy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum StrategyKind {
            $($(#[$doc])* $kind,)*
        }

        impl StrategyKind {
            /// All kinds, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Component that names the strategy: `/localhost/nfd/strategy/NAME`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Implemented version, counted as in NFD.
            pub const fn version(self) -> u64 {
                match self {
                    $(Self::$kind => $version,)*
                }
            }

            /// Names of the parameters, each with its valid values.
            pub const fn parameters(self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => <$kind as Algorithm>::PARAMETERS,)*
                }
            }

            /// Creates the strategy with default parameters.
            pub fn create(self) -> Strategy {
                match self {
                    $(Self::$kind => Strategy::$kind($kind::default()),)*
                }
            }
        }

        impl Strategy {
            /// Kind of this strategy.
            pub const fn kind(&self) -> StrategyKind {
                match self {
                    $(Self::$kind(_) => StrategyKind::$kind,)*
                }
            }

            /// Decides where an Interest goes.
            #[inline(always)]
            pub fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
                match self {
                    $(Self::$kind(strategy) => strategy.on_interest(context),)*
                }
            }

            /// True if [`on_data`](Self::on_data) has an effect.
            #[inline(always)]
            pub fn measures(&self) -> bool {
                match self {
                    $(Self::$kind(_) => <$kind as Algorithm>::MEASURES,)*
                }
            }

            /// True if announcements with Data may make routes.
            #[inline(always)]
            pub fn learns(&self) -> bool {
                match self {
                    $(Self::$kind(_) => <$kind as Algorithm>::LEARNS,)*
                }
            }

            /// Decides where else an Interest goes after the timeout of a [`Decision::Try`].
            pub(crate) fn on_timeout(&mut self, context: &mut InterestContext<'_>) -> Decision {
                match self {
                    $(Self::$kind(strategy) => strategy.on_timeout(context),)*
                }
            }

            /// Handles Data that satisfies an entry.
            pub fn on_data(&mut self, context: &DataContext<'_>) {
                match self {
                    $(Self::$kind(strategy) => strategy.on_data(context),)*
                }
            }

            /// Notes the number of components of the prefix for which the strategy was chosen.
            pub(super) fn set_depth(&mut self, components: usize) {
                match self {
                    $(Self::$kind(strategy) => strategy.set_depth(components),)*
                }
            }

            /// Handles a Nack from `face`, which the records already contain, and decides what the
            /// downstreams get.
            pub fn on_nack(&mut self, prefix: u64, records: &Records, face: FaceId, now: Time) -> NackDecision {
                match self {
                    $(Self::$kind(strategy) => strategy.on_nack(prefix, records, face, now),)*
                }
            }

            /// Sets a parameter; `None` if the strategy has none of this name, or the value is not valid.
            pub(super) fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
                match self {
                    $(Self::$kind(strategy) => strategy.set_parameter(name, value),)*
                }
            }
        }
    };
}
