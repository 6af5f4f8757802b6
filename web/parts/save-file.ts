/**
 * Saves what the server answers as a file. A plain link would not do: the browser sends our cookie along with it, but not
 * what the page keeps beside it, and an address is no place for a secret.
 */
export async function saveFile(name: string, answer: Response | string): Promise<void> {
  const blob = typeof answer === "string" ? new Blob([answer]) : await answer.blob()
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser has begun to save by then; what is never let go of stays in memory until the page is closed.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
