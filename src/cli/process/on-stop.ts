/** Aborts at the first request to stop. A second one means at once. */
export function onStop(): AbortSignal {
  const controller = new AbortController()
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      controller.abort()
    })
  }
  return controller.signal
}
