import { useEffect, useRef } from "react"
import { BookOpen, ChevronsUpDown, LogOut, Moon, PenLine, Settings, Sun, X } from "../components/icons.tsx"
import { IconButton, Link } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Menu, MenuItem, MenuLink } from "../components/menu.tsx"
import { Plain } from "../components/plain.tsx"
import { base } from "../state/client.ts"
import { useHasTool } from "../state/catalogue.ts"
import { feed } from "../state/feed.ts"
import { signOut } from "../state/identity.ts"
import { usePath } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { toggleTheme, useDark } from "../state/theme.ts"
import { t } from "../strings/strings.ts"
import { ConversationList } from "./conversation-list.tsx"
import { Logo } from "./logo.tsx"
import { type Page, useShell } from "./page.ts"

interface SidebarProps {
  readonly pages: readonly Page[]
  /** Only for the drawer. */
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function Sidebar({ pages, isOpen, onClose }: SidebarProps) {
  const path = usePath()
  const { line, known } = useStore(feed)
  const hasTool = useHasTool()
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return
      event.preventDefault() // it closes the drawer and cancels nothing
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
          <Logo className="size-6" />
          <span className="flex-1 font-serif text-lg">Pawl</span>
          <ThemeButton />
          <IconButton label={t("shell.closeSidebar")} onClick={onClose} className="md:hidden">
            <X className="size-5" />
          </IconButton>
        </div>
        <div className="space-y-0.5 px-3 pb-3">
          <Link
            to="/"
            onClick={onClose}
            aria-current={path === "/" ? "page" : undefined}
            className="flex h-9 w-full items-center gap-2.5 rounded-lg border border-line bg-surface px-3 text-sm font-medium transition-colors hover:border-accent"
          >
            <PenLine className="size-4 text-accent" />
            <span className="flex-1 text-left">{t("shell.newConversation")}</span>
            <kbd className="font-mono text-xs text-faint max-md:hidden" aria-hidden="true">
              N
            </kbd>
          </Link>
          {pages.map(({ nav, path: to }) =>
            nav && (nav.tool === undefined || hasTool(nav.tool)) ? (
              <Link
                key={to}
                to={to}
                onClick={onClose}
                aria-current={path === to || path.startsWith(`${to}/`) ? "page" : undefined}
                className="flex h-9 w-full items-center gap-2.5 rounded-lg px-3 text-sm text-soft hover:bg-paper aria-[current=page]:bg-paper aria-[current=page]:text-ink"
              >
                <nav.icon className="size-4" />
                <span className="flex-1 text-left">{t(nav.label)}</span>
                {nav.badge && <nav.badge />}
              </Link>
            ) : null,
          )}
        </div>
        <ConversationList />
        {known && line !== "live" && (
          <p role="status" className="mx-3 mb-2 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
            {t("shell.offline")}
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
    <IconButton label={t(dark ? "shell.useLight" : "shell.useDark")} onClick={toggleTheme}>
      {dark ? <Sun className="size-4" /> : <Moon className="size-4" />}
    </IconButton>
  )
}

/** The signed-in person, and the sign-out button. */
function Person() {
  const { name } = useShell().identity.user
  return (
    <div className="border-t border-line p-2">
      <Menu
        side="top"
        trigger={
          <button
            type="button"
            className="flex h-10 w-full items-center gap-2.5 rounded-lg px-2 text-sm hover:bg-paper"
          >
            <span
              aria-hidden="true"
              className="grid size-7 place-items-center rounded-full bg-accent-soft text-[13px] font-semibold text-accent uppercase"
            >
              {[...name][0]}
            </span>
            <span className="min-w-0 flex-1 truncate text-left">
              <span className="sr-only">{t("shell.signedInAs")} </span>
              <Plain text={name} />
            </span>
            <ChevronsUpDown className="size-4 text-faint" />
          </button>
        }
      >
        <MenuLink icon={<Settings />} to="/settings">
          {t("shell.settings")}
        </MenuLink>
        <MenuItem icon={<BookOpen />} onSelect={() => window.open(`${base}/docs`, "_blank", "noopener")}>
          {t("shell.apiReference")}
        </MenuItem>
        <MenuItem icon={<LogOut />} onSelect={() => void attempt(signOut)}>
          {t("shell.signOut")}
        </MenuItem>
      </Menu>
    </div>
  )
}
