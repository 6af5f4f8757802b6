import { type ReactNode, useEffect } from "react"
import { X } from "../components/icons.tsx"
import { IconButton } from "../components/button.tsx"
import { followCatalogue } from "../state/catalogue.ts"
import { askAbout, dropZones, messageZones } from "../state/drop-zones.ts"
import { followFeed } from "../state/feed.ts"
import { findIdentity, presence } from "../state/identity.ts"
import { resumeOutbox } from "../state/outbox.ts"
import { useStore } from "../state/store.ts"
import { dismiss, toast, toasts } from "../state/toasts.ts"
import { useLanguage } from "../strings/language.ts"
import { t } from "../strings/strings.ts"
import { SignIn } from "./sign-in.tsx"
import type { Page } from "./page.ts"
import { Shell } from "./shell.tsx"

/** The sign-in page, or the pages for a person who is signed in; `children` are drawn over each page. */
export function App({ pages, children }: { readonly pages: readonly Page[]; readonly children: ReactNode }) {
  const who = useStore(presence)
  const isIn = who.is === "signed-in"
  const language = useLanguage()
  useDrops()
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  useEffect(() => {
    if (!isIn) return
    const leaving = new AbortController()
    void followFeed(leaving.signal)
    followCatalogue(leaving.signal)
    resumeOutbox()
    return () => leaving.abort()
  }, [isIn])
  return (
    <div key={language} className="flex h-full flex-col">
      <div className="min-h-0 flex-1 overflow-y-auto">
        {who.is === "signed-in" && <Shell identity={who.identity} pages={pages} />}
        {who.is === "signed-in" && children}
        {who.is === "signed-out" && <SignIn why={who.why} />}
        {who.is === "unreachable" && <SignIn error={who.error} onRetry={() => void findIdentity()} />}
      </div>
      <Toasts />
    </div>
  )
}

/** Temporary messages below the page, which makes room: they cover nothing. Announced to screen readers. */
function Toasts() {
  const shown = useStore(toasts)
  return (
    <div role="status" className={`flex shrink-0 flex-col items-end gap-2 px-4 ${shown.length > 0 ? "py-2" : ""}`}>
      {shown.map(({ key, text, tone }) => (
        <div
          key={key}
          data-toast
          className={`appear flex max-w-full items-start gap-2 rounded-xl border border-line bg-surface py-1 pr-1 pl-4 text-sm shadow-md sm:max-w-xl ${tone === "bad" ? "text-danger" : ""}`}
        >
          <p className="min-w-0 py-1 [overflow-wrap:anywhere]">{text}</p>
          <IconButton label={t("common.dismiss")} onClick={() => dismiss(key)}>
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}

const TABLE = /\.(csv|tsv)$/i

/**
 * The browser would open a dropped file in place of the page. A page with one drop zone takes it there. For a table the
 * person is asked what to do with it, and stays on the page.
 */
function useDrops(): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.defaultPrevented || !wouldLeave(event)) return
      event.preventDefault()
      const [only, ...more] = dropZones
      // A drop without effect sends no event, so the person would get no feedback.
      if (event.dataTransfer) event.dataTransfer.dropEffect = carriesFiles(event) ? "copy" : "none"
      if (carriesFiles(event) && more.length === 0) only?.light(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) for (const zone of dropZones) zone.light(false)
    }
    const drop = (event: DragEvent) => {
      for (const zone of dropZones) zone.light(false)
      if (event.defaultPrevented || !wouldLeave(event)) return
      event.preventDefault()
      const { files } = event.dataTransfer ?? {}
      const [file] = files ?? []
      if (!files || !file) return
      const [only, ...more] = dropZones
      if (only && more.length === 0) return only.take(files)
      if (more.length > 0) return toast(t("shell.severalDropPlaces"))
      const [message] = messageZones
      const tables = [...files].filter(({ name }) => TABLE.test(name))
      const others = [...files].filter((each) => !tables.includes(each))
      if (others.length > 0) message ? message.take(others) : toast(t("shell.noDropPlace"))
      if (presence.value.is !== "signed-in") return
      askAbout(
        tables.map((each) => ({
          file: each,
          attach: message && (() => message.take([each])),
          onDatabase: message?.onDatabase,
        })),
      )
    }
    window.addEventListener("dragover", over)
    window.addEventListener("dragleave", leave)
    window.addEventListener("drop", drop)
    return () => {
      window.removeEventListener("dragover", over)
      window.removeEventListener("dragleave", leave)
      window.removeEventListener("drop", drop)
    }
  }, [])
}

const carriesFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false

/**
 * Files and links that are dropped outside of a field would be opened. Text that is moved within a field is left alone.
 */
function wouldLeave(event: DragEvent): boolean {
  if (carriesFiles(event)) return true
  const isField = event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable]")
  return !isField && (event.dataTransfer?.types.includes("text/uri-list") ?? false)
}
