/** The case needs something that was not given. */
export class Skip extends Error {}
