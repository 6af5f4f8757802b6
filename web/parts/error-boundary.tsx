import { Component, type ReactNode } from "react"

interface ErrorBoundaryProps {
  /** Shown in place of what could not be drawn. */
  readonly instead: ReactNode
  /** When this changes it is tried again; what was drawn well stays as it is, with what people have chosen in it. */
  readonly of?: string
  readonly children: ReactNode
}

/** What cannot be drawn takes nothing else with it: without this one bad value would leave the whole page empty. */
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
