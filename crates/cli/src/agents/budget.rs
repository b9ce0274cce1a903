//! The tokens and the money of a run.

use runstate::termination::{FinalReason, StoppedReason};
use runstate::turn::Turn;
use runstate_agent::answer::Usage;
use runstate_agent::{EndedStep, Phase, PhaseContext, Phases, Plugin, PluginError, async_trait};

use super::file::{AgentFile, PriceFile};

/// Stops a run that has spent its money, and a run with a limit of tokens or money whose model reports no tokens. Of a model
/// with fallbacks the highest price counts, since a run does not know which one answered.
#[derive(Debug)]
pub(super) struct Budget {
    /// None: a limit of tokens alone, which a stop condition compares.
    limit: Option<u64>,
    price: PriceFile,
}

impl Budget {
    pub(super) fn of(file: &AgentFile) -> Option<Self> {
        let limit = file.limits.money;
        if limit.is_none() && file.limits.tokens.is_none() {
            return None;
        }
        let models = [&file.model].into_iter().chain(&file.fallbacks);
        let prices = models.filter_map(|model| file.prices.get(&model.name));
        let highest = |all: PriceFile, one: &PriceFile| PriceFile {
            input: all.input.max(one.input),
            output: all.output.max(one.output),
        };
        Some(Budget { limit, price: prices.fold(PriceFile { input: 0, output: 0 }, highest) })
    }

    /// The cost of tokens, in millionths of a unit, rounded up.
    fn cost(&self, usage: Usage) -> u64 {
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let thousandths =
            of(usage.input_tokens, self.price.input) + of(usage.output_tokens, self.price.output);
        u64::try_from(thousandths.div_ceil(1_000)).unwrap_or(u64::MAX)
    }
}

fn stopped(code: &str, detail: &str) -> Option<FinalReason> {
    StoppedReason::new(code, Some(detail)).ok().map(FinalReason::from)
}

#[async_trait]
impl Plugin for Budget {
    fn name(&self) -> &str {
        "budget"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::AfterInference])
    }

    async fn after_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        _turn: &mut Turn,
        usage: &Usage,
    ) -> Result<(), PluginError> {
        // An answer without a token that was read, or without one that was written, is one that was not counted.
        if (usage.input_tokens == 0 || usage.output_tokens == 0)
            && let Some(reason) = stopped("tokens_unknown", "the model reported no tokens")
        {
            cx.end_run(reason);
        }
        Ok(())
    }

    fn stops(&self, step: &EndedStep<'_>) -> Option<FinalReason> {
        let spent = self.cost(step.counters().usage());
        let limit = self.limit.filter(|limit| spent >= *limit && !step.ends_naturally())?;
        stopped("money_budget", &format!("{spent} of {limit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_rounded_up_and_does_not_overflow() {
        let money = Budget { limit: Some(1), price: PriceFile { input: 1, output: 3_000 } };
        let usage = |input_tokens, output_tokens| Usage { input_tokens, output_tokens };
        assert_eq!(money.cost(usage(0, 0)), 0);
        assert_eq!(money.cost(usage(1, 0)), 1);
        assert_eq!(money.cost(usage(1_000, 2)), 7);
        assert_eq!(money.cost(usage(u64::MAX, u64::MAX)), u64::MAX);
    }
}
