import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { ConversationPage } from "./conversation/conversation-page.tsx"
import { NewPage } from "./conversation/new-page.tsx"

export interface Page {
  /** Below the server's own address; `:name` for what varies. */
  readonly path: string
  readonly draw: (found: Readonly<Record<string, string>>) => ReactNode
  /** Where it stands in the sidebar, if it does. */
  readonly nav?: { readonly label: string; readonly icon: LucideIcon }
}

/** Every page there is. A new one is a line here and a file that draws it. */
export const pages: readonly Page[] = [
  { path: "/", draw: () => <NewPage /> },
  { path: "/c/:id", draw: ({ id = "" }) => <ConversationPage key={id} id={id} /> },
]
