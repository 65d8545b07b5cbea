"""Names that the worlds are made of: services, teams, people. All are invented."""

from __future__ import annotations

SERVICES: tuple[str, ...] = (
    "billing", "checkout", "ledger", "search-api", "notification-hub", "invoice-worker", "catalog",
    "session-store", "image-resizer", "fraud-scorer", "shipping-quotes", "tax-rules", "loyalty-points",
    "audit-log", "feature-flags", "webhook-relay", "report-builder", "inventory-sync", "refund-desk",
    "geo-lookup", "mail-sender", "identity-gateway", "recommendations", "order-router", "price-feed",
    "chat-bridge", "document-vault", "metrics-collector", "payout-batcher", "coupon-mint",
    "address-book", "calendar-sync", "media-transcoder", "stock-ticker", "partner-portal",
    "subscription-core", "warehouse-map", "translation-memory", "survey-forms", "job-scheduler",
)  # fmt: skip

TEAMS: tuple[str, ...] = (
    "Otter", "Heron", "Lynx", "Badger", "Falcon", "Walrus", "Gecko", "Bison", "Puffin", "Marten",
    "Osprey", "Ibex", "Condor", "Tapir", "Magpie", "Wombat", "Stork", "Jackal", "Newt", "Caribou",
)  # fmt: skip

PEOPLE: tuple[str, ...] = (
    "Belvan", "Torrik", "Ismera", "Quillon", "Nadreen", "Ovetta", "Sorlin", "Maruk", "Tesselin",
    "Jorvane", "Kaliope", "Brennic", "Ysolde", "Dravid", "Pellora", "Emmerin", "Hadriel", "Lusanne",
    "Corwick", "Zephira", "Anselka", "Rovane", "Mirabeth", "Oswin", "Fenella", "Garrock", "Thessaly",
    "Ulveth", "Wenzel", "Ximora", "Cadrin", "Vionne", "Arlis", "Nerissa", "Boromil", "Syndra",
    "Tavish", "Elowen", "Ragnor", "Idalia",
)  # fmt: skip
