import { z } from "zod"
import {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  type Preview,
  type Tool,
} from "../../../core/engine/definition/tool.ts"

const Input = z.object({ q: z.string().optional() })
type Input = z.infer<typeof Input>
type Run = (input: Input, context: CallContext) => Promise<Answer> | Answer

interface MoreOfRead {
  readonly cacheSeconds?: number
  readonly timeoutSeconds?: number
  readonly maxOutput?: number
  readonly afterCrash?: "run-again" | "in-doubt"
}

/** A read that takes `{q?}`. */
export function read(name: string, run: Run = () => answer(`${name} found`), more: MoreOfRead = {}): Tool {
  return defineTool({
    name,
    description: "Reads.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    run,
    ...more,
  })
}

interface MoreOfWrite {
  readonly timeoutSeconds?: number
  readonly version?: number
  readonly afterCrash?: "run-again" | "in-doubt"
  readonly preview?: (input: Input, context: CallContext) => Promise<Preview> | Preview
}

/** A write that takes `{q?}`. */
export function write(name: string, run: Run = () => answer(`${name} done`), more: MoreOfWrite = {}): Tool {
  const common = { name, description: "Writes.", input: Input, effect: "write", inverse: false } as const
  return defineTool({ ...common, afterCrash: "in-doubt", run, ...more })
}

/** A tool's `run` that reports its start and ends when the test ends it. */
export class Held {
  readonly #begun = Promise.withResolvers<AbortSignal>()
  readonly #end = Promise.withResolvers<Answer>()
  /** The call's signal, as soon as it runs. */
  readonly begun = this.#begun.promise

  readonly run: Run = (_input, { signal }) => {
    this.#begun.resolve(signal)
    return this.#end.promise
  }

  end(text: string): void {
    this.#end.resolve(answer(text))
  }

  /** Returns an invalid answer. */
  endOddly(value: unknown): void {
    this.#end.resolve(value as Answer)
  }

  fail(error: unknown): void {
    this.#end.reject(error)
  }
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
