import { appendFileSync, existsSync, readFileSync } from "node:fs"

const FILE = "paid.txt"

/** Pays, each time it is called. With PAWL_TEST_KILLED, the process is killed right after the first payment. */
export function pay(invoice: string, euros: number): string {
  const isFirst = !existsSync(FILE)
  appendFileSync(FILE, `${invoice} ${euros}\n`)
  if (isFirst && process.env.PAWL_TEST_KILLED) process.kill(process.pid, "SIGKILL")
  return `Paid ${euros} euros for invoice ${invoice}.`
}

/** How many payments there were. */
export const paid = (): number => (existsSync(FILE) ? readFileSync(FILE, "utf8").trim().split("\n").length : 0)
