import { createContext, use } from "react"
import type { Identity } from "../../src/protocol/index.ts"

interface ShellValue {
  readonly identity: Identity
  /** Shows the sidebar where there is no room for it. */
  readonly openDrawer: () => void
}

export const ShellContext = createContext<ShellValue | undefined>(undefined)

export function useShell(): ShellValue {
  const value = use(ShellContext)
  if (!value) throw new Error("This is shown outside the shell.")
  return value
}
