import { useCallback, useEffect, useRef, useState } from "react"
import { base } from "../state/client.ts"
import { type Format, type FrameMessage, readFromFrame, type ToFrame } from "./messages.ts"
import { type Key, t } from "../strings/strings.ts"
import { locale } from "../strings/language.ts"

/** The state of a drawing. */
export type Outcome =
  | { readonly is: "drawing" }
  | { readonly is: "drawn"; readonly save: (format: Format) => Promise<ArrayBuffer> }
  | { readonly is: "failed"; readonly reason: string }

const FAILURES: ReadonlyMap<string, Key> = new Map([
  ["too_large", "chart.tooLarge"],
  ["too_slow", "chart.tooSlow"],
  ["not_drawn", "chart.notDrawn"],
  ["not_saved", "chart.notSaved"],
])

/** The frame has no messages of its own: it sends a code, or the text of its library's error. */
function describeFailure(reason: string): string {
  const key = FAILURES.get(reason)
  return key === undefined ? reason : t(key)
}

interface ChartFrameProps {
  readonly spec: Readonly<Record<string, unknown>>
  /** For screen readers. */
  readonly title: string
  readonly dark: boolean
  readonly onOutcome: (outcome: Outcome) => void
}

/** Loading the frame may take long on a slow connection; the frame itself limits a chart to five seconds. */
const LOAD_MS = 30_000
const DRAW_MS = 8_000
const FIRST_HEIGHT = 320
/** A chart that scrolls back into view gets its height at once. */
const heights = new WeakMap<object, number>()

/**
 * A chart in a sandboxed frame without an origin, which has no access to this page. Its messages are validated; a frame
 * that does not respond in time counts as failed and is removed by the parent.
 */
export function ChartFrame({ spec, title, dark, onOutcome }: ChartFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const [width, setWidth] = useState(0)
  const [height, setHeight] = useState(heights.get(spec) ?? FIRST_HEIGHT)
  // Browsers paint a frame white until its document is loaded, also in the dark theme.
  const [isDrawn, setDrawn] = useState(false)
  const onFrame = useFrameMessages(frame)

  useEffect(() => {
    const stop = onFrame((message) => message.type === "ready" && setReady(true))
    const timer = setTimeout(() => onOutcome({ is: "failed", reason: t("chart.frameNotLoaded") }), LOAD_MS)
    if (isReady) clearTimeout(timer)
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [onFrame, isReady, onOutcome])

  useEffect(() => {
    const observed = frame.current
    if (!observed) return
    // Not for each pixel while a window is resized.
    const look = () => setWidth((now) => (Math.abs(observed.clientWidth - now) > 24 ? observed.clientWidth : now))
    const observer = new ResizeObserver(look)
    observer.observe(observed)
    look()
    return () => observer.disconnect()
  }, [])

  useEffect(() => {
    const view = frame.current?.contentWindow
    if (!isReady || width === 0 || !view) return
    const nonce = crypto.randomUUID()
    const send = (message: ToFrame) => view.postMessage(message, "*")
    const fail = (reason: string) => onOutcome({ is: "failed", reason })
    const timer = setTimeout(() => fail(t("chart.tooSlow")), DRAW_MS)
    const saves = new Map<Format, (bytes: ArrayBuffer) => void>()
    const save = (format: Format) =>
      new Promise<ArrayBuffer>((resolve, reject) => {
        saves.set(format, resolve)
        setTimeout(() => reject(new Error(t("chart.notSaved"))), DRAW_MS)
        send({ type: "save", nonce, format })
      })
    const stop = onFrame((message) => {
      if (message.type === "ready" || message.nonce !== nonce) return
      if (message.type === "saved") return saves.get(message.format)?.(message.bytes)
      clearTimeout(timer)
      if (message.type === "failed") return fail(describeFailure(message.reason))
      if (message.marks === 0) return fail(t("chart.noMarks"))
      const shown = Math.ceil(message.height * Math.min(1, width / message.width)) + 2
      heights.set(spec, shown)
      setHeight(shown)
      setDrawn(true)
      onOutcome({ is: "drawn", save })
    })
    onOutcome({ is: "drawing" })
    send({ type: "draw", nonce, spec, dark, width, locale: locale() })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [onFrame, isReady, width, spec, dark, onOutcome])

  return (
    <iframe
      ref={frame}
      title={title}
      src={`${base}/chart-frame`}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      className={`block w-full border-0 ${isDrawn ? "" : "opacity-0"}`}
      style={{ height, colorScheme: dark ? "dark" : "light" }}
    />
  )
}

/** Receives messages of this frame only. Its origin is "null", because it is sandboxed. */
function useFrameMessages(frame: React.RefObject<HTMLIFrameElement | null>) {
  return useCallback(
    (heard: (message: FrameMessage) => void) => {
      const listen = (event: MessageEvent<unknown>) => {
        if (event.origin !== "null" || !frame.current || event.source !== frame.current.contentWindow) return
        const message = readFromFrame(event.data)
        if (message) heard(message)
      }
      addEventListener("message", listen)
      return () => removeEventListener("message", listen)
    },
    [frame],
  )
}
