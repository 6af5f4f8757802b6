interface Second {
  readonly alarms: Set<FarAlarm>
  readonly timer: NodeJS.Timeout
  /** How many of them keep the process alive. */
  awaited: number
}

interface FarAlarm {
  readonly ring: () => void
}

/**
 * Alarms that may ring up to a second late. Those of one second share a timer: each run sets one and nearly every run takes
 * it back, and a timer of the platform's own for each costs ten times as much.
 */
export class FarAlarms {
  readonly #seconds = new Map<number, Second>()

  /** One in the background does not keep the process alive. The returned function takes the alarm back. */
  set(ms: number, ring: () => void, background: boolean): () => void {
    const now = performance.now()
    const due = Math.ceil((now + ms) / 1000)
    const second = this.#seconds.get(due) ?? this.#begin(due, now)
    const alarm = { ring }
    second.alarms.add(alarm)
    if (!background && second.awaited++ === 0) second.timer.ref()
    return () => {
      if (second.alarms.delete(alarm) && !background && --second.awaited === 0) second.timer.unref()
    }
  }

  #begin(due: number, now: number): Second {
    const timer = setTimeout(() => this.#ring(due), due * 1000 - now).unref()
    const second = { alarms: new Set<FarAlarm>(), timer, awaited: 0 }
    this.#seconds.set(due, second)
    return second
  }

  #ring(due: number): void {
    const second = this.#seconds.get(due)
    this.#seconds.delete(due)
    // Each in a tick of its own: one that throws keeps none of the others from ringing.
    for (const alarm of second?.alarms ?? []) process.nextTick(() => second?.alarms.delete(alarm) && alarm.ring())
  }
}
