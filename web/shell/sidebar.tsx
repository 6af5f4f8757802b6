import { Moon, Sun, X } from "../icons/signs.ts"
import { PenLine } from "../icons/things.ts"
import { useEffect, useRef } from "react"
import { IconButton } from "../parts/button.tsx"
import { feed } from "../state/feed.ts"
import { navigate, usePath } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { toggleTheme, useDark } from "../state/theme.ts"
import { ConversationList } from "./conversation-list.tsx"
import { Mark } from "./mark.tsx"
import type { Page } from "./page.ts"
import { Person } from "./person.tsx"

interface SidebarProps {
  readonly pages: readonly Page[]
  /** Only where it is a drawer. */
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function Sidebar({ pages, isOpen, onClose }: SidebarProps) {
  const path = usePath()
  const { line, known } = useStore(feed)
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return
      event.preventDefault() // it closes the drawer and stops nothing
      onClose()
    }
    window.addEventListener("keydown", close, true)
    return () => window.removeEventListener("keydown", close, true)
  }, [isOpen, onClose])
  return (
    <>
      {isOpen && <div className="absolute inset-0 z-30 bg-shade md:hidden" onClick={onClose} />}
      <nav
        ref={ref}
        aria-label="Pawl"
        className={`absolute inset-y-0 left-0 z-40 w-72 flex-col border-r border-line bg-sunken md:static md:flex ${isOpen ? "appear flex shadow-xl md:shadow-none" : "hidden"}`}
      >
        <div className="flex h-14 items-center gap-2.5 px-4">
          <Mark className="size-6" />
          <span className="flex-1 font-serif text-lg">Pawl</span>
          <ThemeButton />
          <IconButton label="Close the list of conversations" onClick={onClose} className="md:hidden">
            <X className="size-5" />
          </IconButton>
        </div>
        <div className="space-y-0.5 px-3 pb-3">
          <button
            type="button"
            onClick={() => {
              navigate("/")
              onClose()
            }}
            aria-current={path === "/" ? "page" : undefined}
            className="flex h-9 w-full items-center gap-2.5 rounded-lg border border-line bg-surface px-3 text-sm font-medium transition-colors hover:border-accent"
          >
            <PenLine className="size-4 text-accent" />
            <span className="flex-1 text-left">New conversation</span>
            <kbd className="font-mono text-xs text-faint max-md:hidden" aria-hidden="true">
              N
            </kbd>
          </button>
          {pages.map(({ nav, path: to }) =>
            nav ? (
              <button
                key={to}
                type="button"
                onClick={() => {
                  navigate(to)
                  onClose()
                }}
                aria-current={path === to || path.startsWith(`${to}/`) ? "page" : undefined}
                className="flex h-9 w-full items-center gap-2.5 rounded-lg px-3 text-sm text-soft hover:bg-paper aria-[current=page]:bg-paper aria-[current=page]:text-ink"
              >
                <nav.icon className="size-4" />
                <span className="flex-1 text-left">{nav.label}</span>
                {nav.badge && <nav.badge />}
              </button>
            ) : null,
          )}
        </div>
        <ConversationList />
        {known && line !== "live" && (
          <p role="status" className="mx-3 mb-2 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            Not connected. Trying again; what you see may be old.
          </p>
        )}
        <Person />
      </nav>
    </>
  )
}

function ThemeButton() {
  const dark = useDark()
  return (
    <IconButton label={dark ? "Use light colours" : "Use dark colours"} onClick={toggleTheme}>
      {dark ? <Sun className="size-4" /> : <Moon className="size-4" />}
    </IconButton>
  )
}
