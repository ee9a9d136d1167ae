/** Value of --accept-license, and its meaning without one: the terms of whatever the command fetches. */
export const ACCEPT_ANY = "yes";
