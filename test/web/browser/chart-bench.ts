import type { Frame, Page } from "playwright-core"

export interface Attempted {
  readonly name: string
  readonly type: "drawn" | "failed" | "silent"
  readonly marks?: number
  readonly reason?: string
  readonly ms: number
  /** The longest time the page itself was blocked. */
  readonly blocked: number
}

export interface Named {
  readonly name: string
  readonly spec: unknown
}

/** Adds the chart frame to the page as the page itself does, so that tests can send it unchecked specifications. */
export async function openFrame(page: Page, url: string): Promise<Frame> {
  await page.evaluate(`new Promise((resolve) => {
    window.chartFrame?.remove()
    const frame = document.createElement("iframe")
    frame.sandbox = "allow-scripts"
    frame.src = ${JSON.stringify(`${url}/chart-frame`)}
    frame.style.cssText = "position: fixed; inset: 0; width: 700px; height: 500px; z-index: 1000"
    addEventListener("message", function ready(event) {
      if (event.source !== frame.contentWindow || event.data.type !== "ready") return
      removeEventListener("message", ready)
      resolve()
    })
    document.body.append(frame)
    window.chartFrame = frame
  })`)
  const frame = page.frames().findLast((each) => each.url().endsWith("/chart-frame"))
  if (!frame) throw new Error("there is no frame for charts")
  return frame
}

/** Draws specifications one after another; returns the outcome of each, and how responsive the page was. */
export const drawAll = (page: Page, specs: readonly Named[], patience = 8000): Promise<Attempted[]> =>
  page.evaluate(`(${drawInPage.toString()})(${JSON.stringify(JSON.stringify(specs))}, ${patience})`) as Promise<
    Attempted[]
  >

/** Runs in the browser. */
async function drawInPage(text: string, patience: number): Promise<Attempted[]> {
  const scope = globalThis as unknown as {
    chartFrame: { contentWindow: { postMessage(message: unknown, target: string): void } }
    addEventListener(type: "message", heard: (event: { source: unknown; data: Record<string, unknown> }) => void): void
    removeEventListener(type: "message", heard: unknown): void
    performance: { now(): number }
  }
  const { chartFrame, performance } = scope
  const done: Attempted[] = []
  for (const [at, { name, spec }] of (JSON.parse(text) as Named[]).entries()) {
    const nonce = `nonce-of-${at}-${Math.random().toString(36).slice(2)}`
    const began = performance.now()
    let [last, blocked] = [began, 0]
    const pulse = setInterval(() => {
      blocked = Math.max(blocked, performance.now() - last)
      last = performance.now()
    }, 20)
    const heard = await new Promise<Record<string, unknown>>((resolve) => {
      const listen = (event: { source: unknown; data: Record<string, unknown> }) => {
        if (event.source !== chartFrame.contentWindow || event.data.nonce !== nonce) return
        scope.removeEventListener("message", listen)
        resolve(event.data)
      }
      scope.addEventListener("message", listen)
      chartFrame.contentWindow.postMessage({ type: "draw", nonce, spec, dark: false, width: 600 }, "*")
      setTimeout(() => resolve({ type: "silent" }), patience)
    })
    clearInterval(pulse)
    done.push({ ...(heard as unknown as Attempted), name, ms: performance.now() - began, blocked })
  }
  return done
}
