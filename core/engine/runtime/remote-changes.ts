import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import type { Journal, Recorded } from "../journal.ts"
import { type Bus, type Live, type NewsKind, newsKinds, type Watched } from "../ports.ts"
import { type Log } from "../../shared/log.ts"
import type { Runtime } from "./runtime.ts"

/** How often a process that shares its database polls for changes of the others, if it is not notified of them. */
const LOOK_MS = 750
/**
 * How many of these rounds pass between two polls if it is notified, because a notification may be lost. About 15 s.
 */
const ROUNDS_BETWEEN = 20
const NOTHING: Watched = { conversations: [], people: [] }

/** Counts changes of each user's data for all processes that share the database. */
export interface News {
  /** Adds one change for these users and returns the counts. */
  tell(kind: NewsKind, users: readonly UserId[]): Promise<NewsCount[]>
  /** The counts of these users. Users without one are left out. */
  read(users: readonly UserId[]): Promise<NewsCount[]>
}

export interface NewsCount {
  readonly user: UserId
  readonly kind: NewsKind
  readonly count: number
}

export interface ChangeSource {
  onChange(listener: (user: UserId) => void): () => void
}

export interface RemoteChangesPorts {
  readonly runtime: Pick<Runtime, "working" | "onLeaseLost">
  readonly journal: Pick<Journal, "recorded">
  readonly news: News
  /** Data other than conversations, and the sources of its changes in this process. */
  readonly sources: Partial<Record<Exclude<NewsKind, "conversations">, ChangeSource>>
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly everyMs?: number
}

/**
 * Polls what other processes have recorded about conversations that are watched or worked on here, and publishes it
 * like local changes: subscribers learn that there is more to read, a writer that input has arrived, and a former
 * writer that it must stop. It relies on the record only, so nothing is lost however late a poll is.
 */
export class RemoteChanges implements AsyncDisposable {
  readonly #ports: RemoteChangesPorts
  readonly #counts = new Map<string, number>()
  /** Users whose data this process changed without telling the others yet. */
  readonly #changed: Record<NewsKind, Set<UserId>> = {
    conversations: new Set(),
    workspace: new Set(),
    library: new Set(),
  }
  readonly #unsubscribe: () => void
  #looking: Promise<void> | undefined
  #cancel: () => void = () => {}
  #closed = false
  /** The last poll failed. This is logged once and not with every poll. */
  #failed = false
  #rounds = 0
  /** Subscriptions that may have missed a notification since the last poll. */
  #doubtful: Watched | "all" | undefined
  #lookedAt: number

  constructor(ports: RemoteChangesPorts) {
    const { sources, bus } = ports
    this.#ports = ports
    this.#lookedAt = monotonicOf(ports.clock)
    const changes = (["workspace", "library"] as const).map((kind) =>
      sources[kind]?.onChange((user) => {
        this.#changed[kind].add(user)
        bus.spreadNews(user, kind)
      }),
    )
    const stops = [...changes, bus.onDoubt((about) => this.#lookNow(about ?? "all"))]
    this.#unsubscribe = () => stops.forEach((stop) => stop?.())
    this.#wait()
  }

  /** How long ago the last complete poll succeeded. */
  get ageMs(): number {
    return monotonicOf(this.#ports.clock) - this.#lookedAt
  }

  /** Receives what is published in this process. */
  hear(live: Live): void {
    if ((live.type === "events" || live.type === "seen" || live.type === "gone") && live.user)
      this.#changed.conversations.add(live.user)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#cancel()
    this.#unsubscribe()
    await this.#looking
    await this.#tellOthers().catch(() => {})
  }

  #wait(): void {
    const { clock, everyMs = LOOK_MS } = this.#ports
    this.#cancel = clock.alarm(this.#doubtful ? 0 : everyMs, () => this.#round(), "background")
  }

  #round(): void {
    this.#cancel = () => {}
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (!this.#closed) this.#wait()
    })
  }

  /** One poll at a time: doubts that arise during a poll are resolved after it. */
  #lookNow(about: Watched | "all"): void {
    this.#doubtful = this.#doubtful || about === "all" ? "all" : about
    if (this.#looking || this.#closed) return
    this.#cancel()
    this.#round()
  }

  /** Each part by itself: a failure to count must not delay a cancel. */
  async #look(): Promise<void> {
    const doubtful = this.#doubtful
    this.#doubtful = undefined
    const { runtime, bus } = this.#ports
    const isDue = !bus.hearsOthers() || doubtful === "all" || ++this.#rounds % ROUNDS_BETWEEN === 0
    const { conversations, people } = isDue ? bus.watched() : (doubtful ?? NOTHING)
    const concerned = new Set([...bus.watched().conversations, ...runtime.working()])
    const ids = isDue ? concerned : new Set([...conversations].filter((id) => concerned.has(id)))
    const parts = [this.#lookAtConversations(ids), this.#tellOthers().then(() => this.#lookAtNews([...people]))]
    const failed = (await Promise.allSettled(parts)).find((part) => part.status === "rejected")
    if (failed && !this.#failed) this.#ports.log.warn("poll_failed", { error: failed.reason as unknown })
    this.#failed = failed !== undefined
    if (isDue && !failed) this.#lookedAt = monotonicOf(this.#ports.clock)
  }

  async #lookAtConversations(left: Set<ConversationId>): Promise<void> {
    const { runtime, journal, bus } = this.#ports
    if (left.size === 0) return
    for (const recorded of await journal.recorded([...left])) {
      left.delete(recorded.id)
      this.#tell(recorded)
    }
    for (const id of left) {
      runtime.onLeaseLost(id)
      bus.publish(id, { type: "gone", user: undefined })
    }
  }

  /**
   * A writer publishes changes of its own conversations itself, and sooner. All others are published with every poll,
   * even without changes: a client that subscribed meanwhile must not wait for a change that has already happened.
   */
  #tell({ id, position, atWork, here }: Recorded): void {
    const { runtime, bus } = this.#ports
    if (here === "unread") bus.wake(id)
    if (here === "writer" || here === "unread") return
    if (here === "lost") runtime.onLeaseLost(id)
    bus.publish(id, { type: "recorded", position, atWork })
  }

  async #lookAtNews(people: readonly UserId[]): Promise<void> {
    const { news, bus } = this.#ports
    if (people.length === 0) return
    for (const { user, kind, count } of await news.read(people)) {
      const known = this.#counts.get(`${user} ${kind}`)
      this.#counts.set(`${user} ${kind}`, count)
      if (known !== count) bus.publishNews(user, kind)
    }
    this.#forgetUnwatched()
  }

  /** Otherwise entries without subscribers would stay forever. */
  #forgetUnwatched(): void {
    const watched = new Set(this.#ports.bus.watched().people)
    if (this.#counts.size <= 2 * watched.size) return
    for (const key of this.#counts.keys())
      if (!watched.has(key.slice(0, key.indexOf(" ")) as UserId)) this.#counts.delete(key)
  }

  /** A report that fails is repeated with the next poll. */
  async #tellOthers(): Promise<void> {
    for (const kind of newsKinds) {
      const users = [...this.#changed[kind]]
      if (users.length === 0) continue
      this.#changed[kind].clear()
      try {
        // Changes that only this process has counted are no news here, because its subscribers know them already.
        for (const { user, count } of await this.#ports.news.tell(kind, users))
          if ((this.#counts.get(`${user} ${kind}`) ?? 0) === count - 1) this.#counts.set(`${user} ${kind}`, count)
      } catch (error) {
        for (const user of users) this.#changed[kind].add(user)
        throw error
      }
    }
  }
}
