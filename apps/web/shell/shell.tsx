import { useEffect, useState } from "react"
import { flushSync } from "react-dom"
import type { Identity } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { ErrorBoundary } from "../components/use-loaded.tsx"
import { match, navigate, usePath } from "../state/router.ts"
import { MissingPage } from "./page-header.tsx"
import { type Page, ShellContext, useShortcuts } from "./page.ts"
import { Sidebar } from "./sidebar.tsx"
import { t } from "../strings/strings.ts"

/** The width at which the sidebar becomes a drawer, as `md` in the classes. */
const NARROW = "(width < 48rem)"

interface ShellProps {
  readonly identity: Identity
  readonly pages: readonly Page[]
}

/** Sidebar and page side by side; on a phone the sidebar is a drawer. */
export function Shell({ identity, pages }: ShellProps) {
  const path = usePath()
  const [drawer, setDrawer] = useState(false)
  useEffect(() => setDrawer(false), [path])
  useShortcuts({
    search() {
      // The drawer must exist before its field can get the focus.
      flushSync(() => setDrawer(true))
      document.getElementById("search")?.focus()
    },
    fresh() {
      flushSync(() => navigate("/"))
      document.getElementById("composer")?.focus()
    },
  })
  return (
    <ShellContext value={{ identity, openDrawer: () => setDrawer(true) }}>
      <a
        href="#main"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded-lg bg-accent px-3 py-2 text-accent-ink focus:translate-y-0"
      >
        {t("shell.skipToContent")}
      </a>
      <div className="relative flex h-full">
        <Sidebar pages={pages} isOpen={drawer} onClose={() => setDrawer(false)} />
        <main
          id="main"
          tabIndex={-1}
          inert={drawer && matchMedia(NARROW).matches}
          className="flex min-w-0 flex-1 flex-col outline-none"
        >
          <ErrorBoundary of={path} instead={<Broken />}>
            {draw(pages, path)}
          </ErrorBoundary>
        </main>
      </div>
    </ShellContext>
  )
}

function Broken() {
  return (
    <div role="alert" className="grid flex-1 place-items-center p-6 text-center">
      <div>
        <h1 className="mb-2 font-serif text-2xl">{t("shell.broken")}</h1>
        <p className="mb-5 text-soft">{t("shell.brokenHint")}</p>
        <Button look="main" onClick={() => location.reload()}>
          {t("common.reload")}
        </Button>
      </div>
    </div>
  )
}

function draw(pages: readonly Page[], path: string) {
  for (const page of pages) {
    const found = match(page.path, path)
    if (found) return page.draw(found)
  }
  return <MissingPage />
}
