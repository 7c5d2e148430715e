"""Where bytes lie: what Rounds needs of a storage, on disk and in Azure."""
