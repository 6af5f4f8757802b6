import { Component, type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { noticeSignOut } from "../state/identity.ts"
import { useAutoRetry } from "../state/auto-retry.ts"
import { t } from "../strings/strings.ts"
import { Button } from "./button.tsx"
import { explain } from "./explain.ts"

interface ErrorBoundaryProps {
  /** Shown if the children cannot be drawn. */
  readonly instead: ReactNode
  /** When this changes, drawing is tried again; children without an error keep their state. */
  readonly of?: string
  readonly children: ReactNode
}

/** Contains rendering errors: without it one bad value would empty the whole page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidUpdate(before: ErrorBoundaryProps) {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: false })
  }

  override render() {
    return this.state.failed ? this.props.instead : this.props.children
  }
}

interface LoadProblemProps {
  /** The error of the last attempt; undefined if it succeeded. */
  readonly problem: unknown
  readonly onRetry: () => Promise<void>
  readonly className?: string
}

/** Says why something could not be read, with a button to retry. Retries by itself if the server was only unreachable. */
export function LoadProblem({ problem, onRetry, className = "" }: LoadProblemProps) {
  const isTesting = useAutoRetry(problem, onRetry)
  if (problem === undefined) return null
  return (
    <div
      role="alert"
      className={`mb-3 flex flex-wrap items-center gap-3 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn ${className}`}
    >
      <p className="min-w-40 flex-1">
        {explain(problem)} {isTesting && t("common.retryingOnItsOwn")}
      </p>
      <Button small onClick={() => void onRetry()}>
        {t("common.retry")}
      </Button>
    </div>
  )
}

interface Loaded<Value> {
  readonly value: Value | undefined
  readonly reload: () => Promise<void>
  /** Why the value is missing, with a button to retry; null if it was read. */
  readonly trouble: ReactNode
}

/** Reads a value when the component is shown, and again on `reload`. */
export function useLoaded<Value>(load: () => Promise<Value>): Loaded<Value> {
  const [value, setValue] = useState<Value>()
  const [problem, setProblem] = useState<unknown>()
  const latest = useRef(load)
  useEffect(() => {
    latest.current = load
  })
  const reload = useCallback(async () => {
    try {
      setValue(await latest.current())
      setProblem(undefined)
    } catch (error) {
      noticeSignOut(error)
      setProblem(error)
    }
  }, [])
  useEffect(() => void reload(), [reload])
  const trouble = problem === undefined ? null : <LoadProblem problem={problem} onRetry={reload} />
  return { value, reload, trouble }
}
