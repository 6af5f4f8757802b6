import { Component, type ReactNode } from "react"

interface ErrorBoundaryProps {
  /** Shown in place of what could not be drawn. */
  readonly instead: ReactNode
  readonly children: ReactNode
}

/** What cannot be drawn takes nothing else with it: without this one bad value would leave the whole page empty. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? this.props.instead : this.props.children
  }
}
