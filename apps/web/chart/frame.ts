import { cleanSvg } from "./clean-svg.ts"
import type { Drawn, Job } from "./draw-worker.ts"
import { type Draw, type Format, type FrameMessage, MAX_BYTES, readToFrame } from "./messages.ts"

/**
 * The document that draws charts, in a frame without an origin: it has no access to the page, its cookies or any
 * server. The work is done in a worker, because a frame may share its thread with the page.
 */
const PATIENCE_MS = 5000

const source = document.getElementById("worker")?.textContent ?? ""
const place = document.createElement("div")
const tip = document.createElement("div")
let worker: Worker | undefined
let isBusy = false
let shown: { readonly nonce: string; readonly svg: SVGSVGElement } | undefined
let latest = ""

document.body.append(place, tip)
dress()
const say = (message: FrameMessage, moved: Transferable[] = []) => parent.postMessage(message, "*", moved)

addEventListener("message", (event) => {
  if (event.source !== parent) return
  const message = readToFrame(event.data)
  if (message?.type === "draw") void draw(message)
  if (message?.type === "save") void save(message.nonce, message.format)
})
say({ type: "ready" })

async function draw({ nonce, ...job }: Draw): Promise<void> {
  latest = nonce
  const drawn = await work(job)
  if (latest !== nonce) return // another chart was requested meanwhile
  const svg = "svg" in drawn && drawn.svg.length <= MAX_BYTES ? cleanSvg(drawn.svg) : undefined
  if (!svg || !("marks" in drawn)) {
    return say({ type: "failed", nonce, reason: "failed" in drawn ? drawn.failed : "too_large" })
  }
  const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))]
  svg.style.maxWidth = "100%"
  svg.style.height = "auto"
  document.documentElement.style.colorScheme = job.dark ? "dark" : "light"
  document.body.style.background = job.dark ? "#1f2120" : "#ffffff"
  place.replaceChildren(svg)
  shown = { nonce, svg }
  say({ type: "drawn", nonce, width: within(width), height: within(height), marks: drawn.marks })
}

const within = (length: number) => Math.min(Math.max(length || 1, 1), 20_000)

/** One job at a time: a worker that is too slow or no longer needed is terminated. */
function work(job: Job): Promise<Drawn> {
  if (isBusy) stop()
  const own = (worker ??= start())
  isBusy = true
  return new Promise((resolve) => {
    const end = (drawn: Drawn, isGood: boolean) => {
      clearTimeout(timer)
      if (own === worker) {
        isBusy = false
        if (!isGood) stop()
      }
      resolve(drawn)
    }
    const timer = setTimeout(() => end({ failed: "too_slow" }, false), PATIENCE_MS)
    own.onmessage = ({ data }: MessageEvent<Drawn>) => end(data, true)
    own.onerror = () => end({ failed: "not_drawn" }, false)
    own.postMessage(job)
  })
}

function start(): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }))
  const made = new Worker(url)
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE_MS)
  return made
}

function stop(): void {
  worker?.terminate()
  worker = undefined
  isBusy = false
}

async function save(nonce: string, format: Format): Promise<void> {
  if (shown?.nonce !== nonce) return say({ type: "failed", nonce, reason: "not_drawn" })
  try {
    const svg = shown.svg.cloneNode(true) as SVGSVGElement
    svg.removeAttribute("style")
    const text = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" })
    const bytes = await (format === "svg" ? text : await toPng(text, svg)).arrayBuffer()
    say({ type: "saved", nonce, format, bytes }, [bytes])
  } catch {
    say({ type: "failed", nonce, reason: "not_saved" })
  }
}

async function toPng(text: Blob, svg: SVGSVGElement): Promise<Blob> {
  const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))]
  const scale = Math.min(2, 4096 / Math.max(width, height))
  const image = new Image()
  const url = URL.createObjectURL(text)
  try {
    image.src = url
    await image.decode()
    const canvas = document.createElement("canvas")
    canvas.width = Math.ceil(width * scale)
    canvas.height = Math.ceil(height * scale)
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve, reject) =>
      canvas.toBlob((png) => (png ? resolve(png) : reject(new Error())), "image/png"),
    )
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** Shows the accessible label of a mark as its tooltip. */
function dress(): void {
  const { style } = tip
  // The browser would open a file that is dropped on a chart in place of the page.
  for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault())
  document.body.style.margin = "0"
  document.body.style.overflow = "auto"
  Object.assign(style, {
    position: "fixed",
    display: "none",
    pointerEvents: "none",
    maxWidth: "70%",
    font: "12px sans-serif",
  })
  Object.assign(style, {
    padding: "4px 8px",
    borderRadius: "6px",
    background: "#1d1c1a",
    color: "#ffffff",
    zIndex: "1",
  })
  tip.setAttribute("aria-hidden", "true")
  place.addEventListener("pointermove", ({ target, clientX, clientY }) => {
    const marked = (target as Element).closest("[aria-roledescription]:not(svg):not(g)")
    const words = marked?.getAttribute("aria-label")
    tip.textContent = words ?? ""
    style.display = words ? "block" : "none"
    const isRight = clientX > innerWidth / 2
    Object.assign(style, { top: `${Math.max(0, clientY - 34)}px`, left: isRight ? "auto" : `${clientX + 8}px` })
    style.right = isRight ? `${innerWidth - clientX + 8}px` : "auto"
  })
  place.addEventListener("pointerleave", () => Object.assign(style, { display: "none" }))
}
