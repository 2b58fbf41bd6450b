"""The page of `jobs/run report`: load reads, advice judges, charts draw, sections and comparison arrange."""
