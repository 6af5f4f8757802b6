interface Emitter {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
}

/**
 * Calls back when a page may have slept or been cut off and is back: its network is there again, or somebody looks at it.
 * Where there is no page nothing happens. The returned function ends it.
 */
export function onPageReturn(back: () => void): () => void {
  const page = globalThis as Emitter & { document?: Emitter & { visibilityState?: string } }
  const { document } = page
  const seen = () => {
    if (document?.visibilityState === "visible") back()
  }
  page.addEventListener?.("online", back)
  document?.addEventListener?.("visibilitychange", seen)
  return () => {
    page.removeEventListener?.("online", back)
    document?.removeEventListener?.("visibilitychange", seen)
  }
}
