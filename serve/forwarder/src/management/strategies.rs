//! Commands of the module strategy-choice.

use super::fields::{NAME, STRATEGY};
use super::manager::Manager;
use super::program::StrategyInstance;
use super::reply::{Done, done, refused};
use super::request::{Request, TableRequest};
use super::verb::{Call, Verb};
use hashlane_ndn_fw::strategy::Strategy;

pub(super) const SET: Verb =
    Verb { name: "strategy-choice/set", required: NAME | STRATEGY, optional: 0, run: set };
pub(super) const UNSET: Verb =
    Verb { name: "strategy-choice/unset", required: NAME, optional: 0, run: unset };

fn set(manager: &mut Manager, call: Call<'_>) -> Done {
    let mut parameters = call.parameters;
    let (Some(prefix), Some(strategy)) = (parameters.name.clone(), parameters.strategy.take()) else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Name and Strategy are required");
    };
    manager.check_depth(prefix.view())?;
    let instance = StrategyInstance::parse(strategy.view())?;
    let limit = manager.config.max_strategies;
    if manager.strategies.len() >= limit && !manager.strategies.contains(prefix.view()) {
        return refused(507, format!("there are {limit} strategy choices, their limit"));
    }
    let strategy = Strategy::from_name(instance.name.view())
        .or_else(|error| refused(409, format!("Error instantiating strategy: {error}")))?;
    let request = TableRequest::ChooseStrategy { prefix: prefix.clone(), strategy: Some(strategy) };
    call.plane.request(Request::Table(request));
    manager.strategies.insert(prefix, instance.name.clone());
    parameters.strategy = Some(instance.name);
    done(&parameters)
}

fn unset(manager: &mut Manager, call: Call<'_>) -> Done {
    let parameters = call.parameters;
    let Some(prefix) = parameters.name.clone() else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Name is required");
    };
    if prefix.view().is_empty() {
        return refused(400, "the strategy of / cannot be unset: set another one");
    }
    if manager.strategies.remove(prefix.view()) {
        call.plane.request(Request::Table(TableRequest::ChooseStrategy { prefix, strategy: None }));
    }
    done(&parameters)
}
