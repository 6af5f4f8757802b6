import type { ComponentType, ReactNode } from "react"
import type { Icon } from "../icons/draw-icon.tsx"

/** One page of the shell: where it is, how it is drawn, and how one gets there. The list of them stands in pages.tsx. */
export interface Page {
  /** Below the server's own address; `:name` for what varies. */
  readonly path: string
  readonly draw: (found: Readonly<Record<string, string>>) => ReactNode
  /** Where it stands in the sidebar, if it does. */
  readonly nav?: { readonly label: string; readonly icon: Icon; readonly badge?: ComponentType }
}
