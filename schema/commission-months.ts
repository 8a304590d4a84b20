/** Whole months after its activation during which a referral earns (contract §2, referral program constants). */
export const COMMISSION_MONTHS = 12;
