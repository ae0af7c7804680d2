/** The upper bounds of what is measured, in the base units of Prometheus. */

export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Agents take their time. */
export const TURN_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800]

export const BATCH = [1, 2, 4, 8, 16, 32, 64, 128]
