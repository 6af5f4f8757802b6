/**
 * Begins to count; tells the milliseconds that this thread has worked since. Unlike those of a clock they do not pass
 * while a busy machine does other things, so a bound on them holds on any.
 */
export function countWork(): () => number {
  const began = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1000
  }
}
