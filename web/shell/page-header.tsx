import { Menu as MenuIcon } from "../icons/signs.ts"
import { type ReactNode, useEffect } from "react"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { IconButton } from "../parts/button.tsx"
import { Plain } from "../parts/plain.tsx"
import { useShell } from "./shell-context.ts"

interface PageHeaderProps {
  readonly title: string
  /** Said below it, in small. */
  readonly under?: ReactNode
  readonly children?: ReactNode
}

/** The line on top of every page: its name, and what can be done with all of it. */
export function PageHeader({ title, under, children }: PageHeaderProps) {
  const { openDrawer } = useShell()
  useEffect(() => {
    document.title = title === "Pawl" ? title : `${escapeHidden(title)} · Pawl`
  }, [title])
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-3 md:px-5">
      <IconButton label="Open the list of conversations" onClick={openDrawer} className="md:hidden">
        <MenuIcon className="size-5" />
      </IconButton>
      <div className="min-w-0 flex-1">
        <h1 className={`truncate text-[15px] leading-snug font-medium ${title === "Pawl" ? "md:sr-only" : ""}`}>
          <Plain text={title} />
        </h1>
        {under}
      </div>
      {children}
    </header>
  )
}
