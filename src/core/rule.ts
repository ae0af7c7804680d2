/** The shape of a rule: one per command and per fact, in `rules/`. */
import type { Context } from './context.js'
import type { CommitResult, Needs, State } from './state.js'

export interface Rule<Item> {
  /** Everything the decision needs, as far as the state tells already. What is loaded need not be left out. */
  readonly needs: (item: Item, state: State, context: Context) => Partial<Needs>
  /** @throws Rejection */
  readonly decide: (item: Item, state: State, context: Context) => CommitResult
}

/** A rule with its item. */
export interface BoundRule {
  readonly needs: (state: State, context: Context) => Partial<Needs>
  readonly decide: (state: State, context: Context) => CommitResult
}

export const bind = <Item>(rule: Rule<Item>, item: Item): BoundRule => ({
  needs: (state, context) => rule.needs(item, state, context),
  decide: (state, context) => rule.decide(item, state, context),
})
