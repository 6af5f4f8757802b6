import type { ComponentType } from "react"

/**
 * Draws results of one kind. `read` checks the data, because tools are written by others, and returns undefined for data of
 * another shape, which is then shown as JSON.
 */
export interface View<Data> {
  readonly kind: string
  /** Shown only in the opened tool call, such as the sources of a reply. */
  readonly isFolded?: boolean
  readonly read: (data: Readonly<Record<string, unknown>>) => Data | undefined
  readonly Draw: ComponentType<{ readonly data: Data }>
}

/** Checks that `read` and `Draw` agree on the type of the data, which the registry does not know. */
export const defineView = <Data>(view: View<Data>): View<unknown> => view as View<unknown>
