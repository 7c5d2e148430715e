"""Does a model answer with the delta, and nothing but the delta (spec page 2.7)?"""
