import type { ComponentType } from "react"

/**
 * Draws results of one kind. `read` looks whether data is what the kind promises, because tools are written by others; what
 * it does not take is shown as it came.
 */
export interface View<Data> {
  readonly kind: string
  /** Shown with its call, for whoever opens that: an answer brings along what it rests on. */
  readonly isFolded?: boolean
  readonly read: (data: Readonly<Record<string, unknown>>) => Data | undefined
  readonly Draw: ComponentType<{ readonly data: Data }>
}

/** Keeps the type of the data between `read` and `Draw`, and forgets it outside. */
export const defineView = <Data>(view: View<Data>): View<unknown> => view as View<unknown>
