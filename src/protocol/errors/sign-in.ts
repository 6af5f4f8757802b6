/** What can go wrong on the way in through an issuer (OIDC), for the one table of errors. Each says who can do something about it. */
export const issuerErrors = {
  // The same for a browser that did not begin it, for one that finishes it again, and for one that is late.
  sign_in_not_begun: {
    status: 401,
    say: () =>
      "This sign-in was begun in another browser, was finished before, or took longer than ten minutes. Begin it again.",
  },
  sign_in_unavailable: {
    status: 503,
    say: (d: { label: string }) =>
      `${d.label} cannot be reached from this server, or does not answer as it should; try again in a while. The server's log says more, and a sign-in link works meanwhile.`,
  },
  // `reason` is one of the words of OAuth, never a sentence that somebody has put into an address.
  sign_in_refused: {
    status: 403,
    say: (d: { label: string; reason: string }) => `${d.label} has not let you in (${d.reason}).`,
  },
  sign_in_untrusted: {
    status: 401,
    say: (d: { label: string }) =>
      `What came back from ${d.label} is not for this server or not for this sign-in, and does not count. Begin again; where it stays so, the server's log says why.`,
  },
  sign_in_clocks: {
    status: 401,
    say: (d: { label: string }) =>
      `By the clock of this server, what ${d.label} has said about you is too old or not valid yet: one of the two clocks is wrong. Tell whoever runs the server.`,
  },
  sign_in_no_group: {
    status: 403,
    say: (d: { label: string; name: string }) =>
      `${d.label} knows you as ${d.name}, but none of your groups there may use this server (PAWL_OIDC_GROUPS). Ask whoever runs it.`,
  },
  sign_in_mail_unverified: {
    status: 403,
    say: (d: { label: string }) =>
      `${d.label} does not say that your mail address has been verified, and this server goes by it. Verify it there, then begin again.`,
  },
  sign_in_mail_domain: {
    status: 403,
    say: (d: { label: string }) =>
      `Your mail address at ${d.label} is of none of the domains that may use this server (PAWL_OIDC_MAIL_DOMAINS).`,
  },
  sign_in_person_taken: {
    status: 403,
    say: (d: { label: string; name: string }) =>
      `"${d.name}" of this server is somebody else at ${d.label}: the name was given to another account there. Ask whoever runs the server.`,
  },
} as const
