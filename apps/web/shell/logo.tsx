/** The logo: the pawl that lets a wheel turn one way only. */
export function Logo({ className = "" }: { readonly className?: string }) {
  return (
    <svg viewBox="0 0 32 32" className={className} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1f5f52" />
      <path
        d="M10 23V9.5h6.6a4.7 4.7 0 0 1 0 9.4H13"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="23" cy="23" r="2" fill="#fff" />
    </svg>
  )
}
